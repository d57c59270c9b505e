// What recording takes, measured by recording: commits and callbacks that never were, written down by the very code that
// writes down real ones, on one thread. Off the clock.
import Measure
import Scenario
import StoreDriver

/// Per pair of a commit and an observer.
struct RecordingCost: Sendable {
    private static let pairs = 100_000

    let pairs: Int
    /// CPU of one pair; the least of some rounds, because a machine that others use adds to it and never takes off.
    let ns: Double
    /// Allocated over all of them, after the first few; nil where nothing counts.
    let bytes: Int?

    init() throws {
        let site = Site("recording", .queue)
        defer { site.stop() }
        let observer = try Observer(
            name: "recording", query: 0, site: site, isBystander: false, workNs: 0, capacity: Self.pairs + 1_000,
            indexCapacity: 2 * Self.pairs + 2_000, prefaulted: Self.pairs + 1_000)
        let commits = try CommitRecorder(capacity: Self.pairs + 1_000, prefaulted: Self.pairs + 1_000)
        let deletions = [3]
        let insertions = [5]
        func record(_ version: Int64) {
            let nowNs = MonotonicClock.nowNs()
            commits.record(
                CommitRecord(
                    dueNs: nowNs, beginNs: nowNs, lockedNs: MonotonicClock.nowNs(), committedNs: MonotonicClock.nowNs(),
                    version: version))
            observer.deliver(
                Delivery(
                    version: version, isInitial: false, count: 10, deletions: deletions, insertions: insertions,
                    moveCount: 1))
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

/// What it takes to read the clock: no time shorter than a few of these means anything.
enum ClockCost {
    /// In ns, the mean of the best of some batches: in others the thread was not running all the time.
    static func measure() -> Double {
        let count = 256
        return (0..<16).map { _ in
            let startNs = MonotonicClock.nowNs()
            var endNs = startNs
            for _ in 0..<count { endNs = MonotonicClock.nowNs() }
            return Double(endNs - startNs) / Double(count)
        }.min()!
    }
}
