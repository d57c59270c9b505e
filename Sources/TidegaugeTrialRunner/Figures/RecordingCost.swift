// Measures the cost of recording with the code that records real commits and callbacks, on artificial ones, on one
// thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// Cost per pair of a commit and an observer. It excludes the clock readings, which figures need in any case: the
/// commit's begin, lock and return, and the callback's enter and exit. A flag states them beside the cost.
struct RecordingCost: Sendable {
    private static let pairs = 100_000
    /// Number of clock readings for each pair in a trial.
    static let clockReads = 5

    let pairs: Int
    /// CPU time in ns for each pair: the minimum over several rounds, because other load only adds to it.
    let ns: Double
    /// Bytes allocated for all pairs after the first 1,000; nil if allocations are not counted.
    let bytes: Int?

    init() throws {
        let site = DeliveryContext("recording", .queue)
        defer { site.stop() }
        let observer = try Observer(
            name: "recording", query: 0, site: site, isIdle: false, capacity: Self.pairs + 1_000,
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
