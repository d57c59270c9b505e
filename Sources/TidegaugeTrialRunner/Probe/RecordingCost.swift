// What recording takes, measured by recording: commits and callbacks that never were, written down by the very code that
// writes down real ones, on one thread. Off the clock.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// Per pair of a commit and an observer. Without the readings of the clock, which are the measurement itself: each is a time
/// that figures need (the commit's begin, lock and return, the callback's enter and exit), and stands beside the cost as its
/// flag. With them in, five of some 35 ns, the recorders' own part could not be seen.
struct RecordingCost: Sendable {
    private static let pairs = 100_000
    /// Readings of the clock that a trial makes for such a pair.
    static let clockReads = 5

    let pairs: Int
    /// CPU of one pair; the least of some rounds, because a machine that others use adds to it and never takes off.
    let ns: Double
    /// Allocated over all of them, after the first few; nil where nothing counts.
    let bytes: Int?

    init() throws {
        let site = DeliveryContext("recording", .queue)
        defer { site.stop() }
        let observer = try Observer(
            name: "recording", query: 0, site: site, isBystander: false, capacity: Self.pairs + 1_000,
            indexCapacity: 2 * Self.pairs + 2_000, prefaulted: Self.pairs + 1_000)
        let commits = try CommitRecorder(capacity: Self.pairs + 1_000, prefaulted: Self.pairs + 1_000)
        let deletions = [3]
        let insertions = [5]
        func record(_ version: Int64) {
            commits.record(
                CommitRecord(
                    dueNs: version, beginNs: version, lockedNs: version + 1, committedNs: version + 2, version: version)
            )
            observer.note(
                Delivery(
                    version: version, isInitial: false, count: 10, deletions: deletions, insertions: insertions,
                    moveCount: 1), enterNs: version + 3)
            observer.finish(exitNs: version + 4)
        }
        for version in 0..<1_000 { record(Int64(version)) }
        let counter = ThreadAllocations()
        var allocated: UInt64 = 0
        let rounds = 20
        let each = Self.pairs / rounds
        var costs: [Double] = []
        for round in 0..<rounds {
            let before = counter?.allocatedBytes ?? 0
            let startNs = CPUProbe.currentThreadNs()
            for index in 0..<each { record(Int64(1_000 + round * each + index)) }
            let spentNs = CPUProbe.currentThreadNs() - startNs
            allocated += (counter?.allocatedBytes ?? 0) - before
            costs.append(Double(spentNs) / Double(each))
        }
        bytes = counter.map { _ in Int(allocated) }
        pairs = Self.pairs
        ns = costs.min() ?? 0
    }
}
