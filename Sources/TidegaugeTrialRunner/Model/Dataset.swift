// The initial rows of a trial as a function of its seed, and scores that are unique over all rows.
//
// The score of a writable row consists of 31 bits above a 32-bit serial number. Without a recorded workload, the upper
// bits of the initial rows are evenly spaced, in random order, so scores are uniform for queries over a range of
// scores. Unique scores give the oracle an unambiguous order. Rows of idle queries and audited rows have negative
// scores.
import TidegaugeDriver
import TidegaugeSpec

struct Dataset: Sendable {
    static let rowsPerGroup = 10
    /// Group of the audited rows, two for each writer; their columns `stamp` add up to 0 in every version.
    static let auditedGroup: Int64 = -1

    let items: Int
    /// Number of groups of rows that no writer changes.
    let groups: Int
    let auditedRows: Int
    /// Serial numbers are assigned round robin: the dataset takes every `lanes`-th from 0, writer w from w + 1.
    let lanes: Int
    /// A random permutation of the items, from which the upper bits of their scores follow.
    private let places: ContiguousArray<Int32>
    /// Recorded workload that assigns rows to tables.
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

    /// Number of all rows: the items, then the rows of groups, then the audited rows.
    var count: Int { items + groups * Self.rowsPerGroup + auditedRows }

    /// Key of the first of a writer's two audited rows; nil without an audit.
    func auditedKey(writer: Int) -> Int64? { auditedRows > 0 ? Int64(count - auditedRows + 2 * writer) : nil }

    /// Returns row `index`; its key is the index.
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
    ///   - upper: the upper 31 bits of the score.
    ///   - serial: unique in the trial and less than 2³² - 1, so no score is `Int64.max`, the upper bound of ranges.
    static func make(upper: UInt64, serial: Int) -> Int64 {
        precondition(
            serial < Int(UInt32.max), "out of unique scores after \(serial) rows: shorten the trial or lower its rate")
        return Int64(bitPattern: upper << 32 | UInt64(serial))
    }

    /// Returns the smallest score whose upper part is at least `numerator`; `Int64.max` for the end of the range.
    static func bound(_ numerator: Int64) -> Int64 { numerator >= 1 << 31 ? .max : numerator << 32 }
}
