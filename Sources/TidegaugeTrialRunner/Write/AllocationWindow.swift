// Measures allocations by role from the start of the measured window until the wait for deliveries has ended. The bytes
// of writers, observing threads and the conducting thread are counted by thread. The rest of the process counts as the
// engine's, unless deliveries run on queues. Used on the conducting thread.
import TidegaugeMeasure
import TidegaugeTrial

final class AllocationWindow: Companion {
    private let conductor: ThreadAllocations
    private let writing: any WritingSide
    private let group: ObserverGroup
    private var writers: [ThreadAllocations] = []
    /// Nil if deliveries run on queues, which have no threads of their own, or if a thread has no counters.
    private var sites: [ThreadAllocations]?
    private var start: Reading?

    private struct Reading {
        var process: AllocationTotals
        var conductor: UInt64
        var writers: UInt64
        var sites: UInt64
    }

    /// Nil if allocations are not counted.
    init?(_ writing: any WritingSide, _ group: ObserverGroup) {
        guard let conductor = ThreadAllocations() else { return nil }
        (self.conductor, self.writing, self.group) = (conductor, writing, group)
    }

    /// Writers and delivery contexts have started their threads by now.
    func begin(_ window: Window) {
        writers = writing.allocations.compactMap { $0 }
        sites = group.allocations
        start = Self.read(conductor, writers, sites ?? [])
    }

    private static func read(
        _ conductor: ThreadAllocations, _ writers: [ThreadAllocations], _ sites: [ThreadAllocations]
    ) -> Reading? {
        guard let process = AllocationProbe.processTotals() else { return nil }
        return Reading(
            process: process, conductor: conductor.allocatedBytes,
            writers: writers.reduce(0) { $0 + $1.allocatedBytes }, sites: sites.reduce(0) { $0 + $1.allocatedBytes })
    }

    func end(into findings: inout Findings) {
        guard let start, let end = Self.read(conductor, writers, sites ?? []) else { return }
        let harness = Int64(end.conductor - start.conductor)
        let writing = Int64(end.writers - start.writers)
        let observing = sites.map { _ in Int64(end.sites - start.sites) }
        var all = end.process - start.process
        all.bytes = max(0, all.bytes - harness)
        findings.allocations = AllocationAccount(
            process: all, writerBytes: writing, observerBytes: observing, commits: findings.commits,
            affectingCommits: findings.affectingCommits)
    }
}
