// Finds out whether the last, unacknowledged commit of a killed writing process is in the store. It is if a row has its
// value of the column `stamp`. Its version follows the last acknowledged one. Used by the conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

struct WriterDeath {
    private let setup: TrialSetup
    private let window: Window
    private let report: HostFaultReport

    init(_ setup: TrialSetup, _ window: Window, _ report: HostFaultReport) {
        (self.setup, self.window, self.report) = (setup, window, report)
    }

    /// Returns the commit that the killed process was making, or nil if it is not in the store.
    func unacknowledged() throws -> CommitRecord? {
        let spec = setup.spec
        var generator = ChangeGenerator(spec, dataset: setup.dataset, shared: setup.plan.shared, writer: 0)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        for _ in 0..<report.committed { generator.fill(changes) }
        let stamp = generator.nextStamp
        guard try setup.store.contents(of: Query()).contains(where: { $0.stamp == stamp }) else { return nil }
        var schedule = ArrivalSchedule(spec, writer: 0)
        var dueNs: Int64 = 0
        for _ in 0...report.committed { dueNs = schedule.next() ?? dueNs }
        dueNs += window.startNs
        // Only the killed process had written since its last commit.
        return CommitRecord(
            dueNs: dueNs, beginNs: max(dueNs, report.lastCommittedNs ?? 0), lockedNs: report.hitNs,
            committedNs: report.hitNs, version: (report.lastVersion ?? 0) + 1)
    }
}
