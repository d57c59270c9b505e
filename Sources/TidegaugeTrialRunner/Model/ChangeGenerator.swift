// Generates the commits of one writer from its seed. Writers share no rows, so the oracle can run the generators again
// after the measurement, and changes need no records.
import TidegaugeDriver
import TidegaugeSpec

struct ChangeGenerator {
    private let writer: Int
    private let lanes: Int
    private let rowsPerCommit: Int
    /// Key of the first of the writer's two audited rows, whose columns `stamp` add up to 0; nil without an audit.
    private let auditedKey: Int64?
    private let movesInList: Bool
    private let choice: KeyChoice
    private let firstNewKey: Int64
    /// The upper 31 bits of new scores are at least this, without a recorded workload.
    private let lowestUpper: UInt64
    /// Kinds with the upper end of their share of 2⁶⁴.
    private let kinds: [(kind: WritersSpec.ChangeKind, upTo: UInt64)]
    private var random: RandomSource
    /// Keys of this writer's rows that random changes choose from.
    private var keys: ContiguousArray<Int64>
    private var serial = 0
    private var inserted: Int64 = 0
    private(set) var commits: Int64 = 0
    /// The recorded workload to replay; nil if changes are random.
    private var workload: WorkloadSpec?

    init(_ spec: TrialSpec, dataset: Dataset, shared: Query, writer: Int) {
        self.init(
            spec.writers, dataset: dataset, shared: shared, writer: writer, seed: spec.seed,
            movesInList: spec.observers.sort == .list)
        workload = spec.workload
    }

    /// - Parameters:
    ///   - shared: the query whose rows `keys: matching` changes; changed rows keep matching it.
    ///   - movesInList: whether a move changes the place in a list instead of a score.
    init(_ spec: WritersSpec, dataset: Dataset, shared: Query, writer: Int, seed: UInt64, movesInList: Bool = false) {
        auditedKey = dataset.auditedKey(writer: writer)
        (self.movesInList, self.writer, lanes, rowsPerCommit) = (movesInList, writer, dataset.lanes, spec.rowsPerCommit)
        choice = KeyChoice(spec)
        firstNewKey = Int64(dataset.count)
        random = RandomSource(seed: seed, stream: 2_000_000 + UInt64(writer))
        var keys = ContiguousArray(stride(from: Int64(writer), to: Int64(dataset.items), by: spec.threads))
        var lowestUpper: UInt64 = 0
        if spec.keys == .matching {
            keys.removeAll { key in
                let item = dataset.item(at: Int(key))
                return !shared.matches(key: key, group: item.group, score: item.score)
            }
            lowestUpper = UInt64((shared.scores?.lowerBound ?? 0) >> 32)
        }
        if choice.wantsShuffle {
            var shuffle = RandomSource(seed: seed, stream: 3_000_000 + UInt64(writer))
            for index in stride(from: keys.count - 1, to: 0, by: -1) { keys.swapAt(index, shuffle.below(index + 1)) }
        }
        (self.keys, self.lowestUpper) = (keys, lowestUpper)
        kinds = Self.shares(spec.changes)
    }

    private static func shares(_ weights: [String: Double]) -> [(kind: WritersSpec.ChangeKind, upTo: UInt64)] {
        let weighted = WritersSpec.ChangeKind.allCases.compactMap { kind in weights[kind.rawValue].map { (kind, $0) } }
        let total = weighted.reduce(0) { $0 + $1.1 }
        precondition(total > 0, "writers.changes names no kind of change")
        var sum = 0.0
        var shares = weighted.map { kind, weight in
            sum += weight
            return (kind: kind, upTo: UInt64(min(sum / total * 0x1p63, 0x1p63)) << 1)
        }
        shares[shares.count - 1].upTo = .max
        return shares
    }

    /// Maximum number of rows that `fill` writes.
    var count: Int { rowsPerCommit + (auditedKey == nil ? 0 : 2) }

    /// Value of the column `stamp` in the next commit: unique over all writers and never 0, which loaded rows have.
    var nextStamp: Int64 { commits * Int64(lanes) + Int64(writer) + 1 }

    /// Writes the next commit into `changes`, which holds `count` elements. A row may occur twice in one commit. A
    /// deletion or change becomes an insertion if the writer has no row left.
    /// - Returns: the changes of the commit.
    @discardableResult
    mutating func fill(_ changes: UnsafeMutableBufferPointer<Change>) -> UnsafeBufferPointer<Change> {
        let stamp = nextStamp
        let count: Int
        if let workload {
            count = replay(workload, changes, stamp)
        } else {
            count = rowsPerCommit
            for index in 0..<count { changes[index] = draw(stamp) }
        }
        if let auditedKey {
            // The amount moved identifies the commit.
            func moved(_ row: Int, _ amount: Int64) {
                let item = Item(key: auditedKey + Int64(row), group: Dataset.auditedGroup, score: 0, stamp: amount)
                changes[count + row] = Change(.touch, item)
            }
            moved(0, stamp)
            moved(1, -stamp)
        }
        commits += 1
        return UnsafeBufferPointer(rebasing: changes[..<(auditedKey == nil ? count : count + 2)])
    }

    /// Replays the next commit of the recording; inserts one new row if the recording has ended.
    private mutating func replay(
        _ workload: WorkloadSpec, _ changes: UnsafeMutableBufferPointer<Change>, _ stamp: Int64
    ) -> Int {
        guard commits < workload.commits.count else {
            let key = newKey(Int64(workload.commits.count) * Int64(rowsPerCommit) + commits)
            changes[0] = Change(.insert, Item(key: key, group: 0, score: newScore(), stamp: stamp))
            return 1
        }
        let operations = workload.commits[Int(commits)]
        for (index, operation) in operations.enumerated() {
            let new = Int64(operation.row - workload.rowCount)
            let key = new < 0 ? Int64(operation.row) : newKey(new)
            var item = Item(key: key, group: 0, score: 0, stamp: stamp)
            let change: Change.Operation =
                switch operation.kind {
                case .insert: .insert
                case .delete: .delete
                case .move: .updateScore
                case .touch: .touch
                }
            if operation.kind == .insert || operation.kind == .move {
                item.score = newScore(upper: workload.upper(of: operation.table, random.unit()))
            }
            changes[index] = Change(change, item)
        }
        return operations.count
    }

    /// Returns the key of the n-th row that this writer inserts.
    private func newKey(_ number: Int64) -> Int64 { firstNewKey + number * Int64(lanes) + Int64(writer) }

    private mutating func draw(_ stamp: Int64) -> Change {
        let kind: WritersSpec.ChangeKind
        if keys.isEmpty {
            kind = .insert
        } else if kinds.count == 1 {
            kind = kinds[0].kind
        } else {
            let drawn = random.next()
            kind = kinds.first { drawn <= $0.upTo }!.kind
        }
        func change(_ operation: Change.Operation, _ key: Int64, score: Int64 = 0) -> Change {
            Change(operation, Item(key: key, group: 0, score: score, stamp: stamp))
        }
        switch kind {
        case .insert:
            let key = newKey(inserted)
            inserted += 1
            keys.append(key)
            return change(.insert, key, score: newScore())
        case .delete:
            let index = choice.draw(keys.count, &random)
            if choice.keepsOrder { return change(.delete, keys.remove(at: index)) }
            keys.swapAt(index, keys.count - 1)
            return change(.delete, keys.removeLast())
        case .updateScore: return change(.updateScore, drawKey(), score: newScore())
        case .touch: return change(.touch, drawKey())
        case .move:
            let key = drawKey()
            if movesInList { return change(.moveToFront, key) }
            defer { serial += 1 }
            // Higher than all earlier scores of this writer, because serial numbers only rise.
            return change(.updateScore, key, score: Score.make(upper: 1 << 31 - 1, serial: serial * lanes + writer + 1))
        }
    }

    private mutating func drawKey() -> Int64 { keys[choice.draw(keys.count, &random)] }

    private mutating func newScore() -> Int64 {
        newScore(
            upper: lowestUpper > 0
                ? lowestUpper + UInt64(random.below(1 << 31 - Int(lowestUpper))) : random.next() >> 33)
    }

    private mutating func newScore(upper: UInt64) -> Int64 {
        defer { serial += 1 }
        return Score.make(upper: upper, serial: serial * lanes + writer + 1)
    }
}
