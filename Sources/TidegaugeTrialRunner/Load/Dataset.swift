// The rows a trial starts with, as a function of its seed, and how scores are made so that no two rows ever share one.
//
// A score of a row that is written to is 31 random bits above 32 bits of a serial number: uniform for queries that take
// a range of scores, unique for the oracle, which needs every order to be unambiguous. Rows that bystanders watch have negative
// scores, so that no main query ever matches them.
import TidegaugeDriver
import TidegaugeSpec

struct Dataset: Sendable {
    static let rowsPerGroup = 10
    /// Of the rows whose stamps add up to 0 in every version, two of each writer.
    static let auditedGroup: Int64 = -1

    let items: Int
    /// Of rows that nobody writes.
    let groups: Int
    let auditedRows: Int
    /// Serial numbers are handed out round robin: the dataset takes every `lanes`-th from 0, writer w from w + 1.
    let lanes: Int
    /// The place of item i among all scores: evenly spread, so that a share of the scores is that share of the rows.
    private let places: ContiguousArray<Int32>
    /// Says which rows belong together.
    private let workload: WorkloadSpec?

    init(
        items: Int, groups: Int, writers: Int, isAudited: Bool = false, workload: WorkloadSpec? = nil, seed: UInt64
    ) {
        (self.items, self.groups, self.workload) = (items, groups, workload)
        auditedRows = isAudited ? 2 * writers : 0
        lanes = writers + 1
        var random = RandomSource(seed: seed, stream: 0)
        var places = ContiguousArray((0..<items).map { Int32($0) })
        for index in stride(from: items - 1, to: 0, by: -1) { places.swapAt(index, random.below(index + 1)) }
        self.places = places
    }

    init(_ spec: TrialSpec) {
        self.init(
            items: spec.dataset.items, groups: spec.dataset.groups, writers: spec.writers.threads,
            isAudited: spec.observers.audit == .sums, workload: spec.workload, seed: spec.seed)
    }

    /// All rows: the items, those of the groups, and then those that are audited.
    var count: Int { items + groups * Self.rowsPerGroup + auditedRows }

    /// The first of the two audited rows of a writer; nil where there are none.
    func auditedKey(writer: Int) -> Int64? { auditedRows > 0 ? Int64(count - auditedRows + 2 * writer) : nil }

    /// Row `index`, which is also its key.
    func item(at index: Int) -> Item {
        guard index < items else {
            let isAudited = index >= count - auditedRows
            let group = isAudited ? Self.auditedGroup : Int64((index - items) / Self.rowsPerGroup + 1)
            return Item(key: Int64(index), group: group, score: -1 - Int64(index), stamp: 0)
        }
        let upper =
            if let workload {
                workload.upper(of: workload.table(ofRow: index), (Double(places[index]) + 0.5) / Double(items))
            } else {
                (UInt64(places[index]) << 31 + 1 << 30) / UInt64(items)
            }
        let score = Score.make(upper: upper, serial: index * lanes)
        return Item(key: Int64(index), group: 0, score: score, stamp: 0)
    }
}

enum Score {
    /// - Parameters:
    ///   - upper: 31 bits.
    ///   - serial: unique in the trial, under 2^32 - 1, so that no score is `Int64.max`, which bounds ranges from above.
    static func make(upper: UInt64, serial: Int) -> Int64 {
        precondition(
            serial < Int(UInt32.max), "out of unique scores after \(serial) rows: shorten the trial or lower its rate")
        return Int64(bitPattern: upper << 32 | UInt64(serial))
    }

    /// The smallest score of the upper part `numerator / 2^31` of the range; `Int64.max` for the end of it.
    static func bound(_ numerator: Int64) -> Int64 { numerator >= 1 << 31 ? .max : numerator << 32 }
}
