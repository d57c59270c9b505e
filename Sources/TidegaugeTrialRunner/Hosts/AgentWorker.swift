// The process that an agent starts. It writes or observes in a store that other processes have open too. Its windows
// and records are on the machine's clock.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

public enum AgentWorker {
    /// Carries out the order in its first frame, then returns.
    /// - Throws: if the input is invalid, or if the output is closed.
    public static func run(drivers: [any StoreDriver]) throws {
        // The worker ends with its agent, however the agent ends.
        cp_die_with_parent()
        let channel = HostChannel()
        guard let order = try channel.expect(.order)?.decoded(HostOrder.self) else { return }
        let report: HostReport?
        do {
            report = try carryOut(order, drivers, channel)
        } catch {
            report = HostReport(failure: .init(error))
        }
        if let report { try channel.send(HostFrame(.done, report)) }
    }

    /// - Returns: nil if no report is expected.
    private static func carryOut(
        _ order: HostOrder, _ drivers: [any StoreDriver], _ channel: HostChannel
    ) throws -> HostReport? {
        let spec = order.spec
        guard let driver = drivers.first(where: { $0.name == spec.driver }) else {
            throw TrialFault.harness("this binary has no driver '\(spec.driver)'")
        }
        var configuration = StoreConfiguration(spec, directory: order.storeDirectory)
        (configuration.address, configuration.secret) = (order.storeAddress, order.storeSecret)
        let store = try driver.open(configuration)
        switch order.role {
        case .writers(_, _, let done):
            return try write(order, dueTimesDone: done, driver, store, channel)
        case .observer:
            let group = try observers(spec, store)
            try channel.send(HostFrame(kind: .ready))
            // Runs until it is killed or the agent has ended.
            while channel.read() {}
            group.cancel()
            return nil
        }
    }

    private static func write(
        _ order: HostOrder, dueTimesDone: Int, _ driver: any StoreDriver, _ store: any DrivenStore,
        _ channel: HostChannel
    ) throws -> HostReport? {
        var spec = order.spec
        // A deliberate stop does not count as a hang.
        spec.hangTimeoutNs += spec.fault.lengthNs
        let (dataset, plan) = (Dataset(spec), QueryAssignment(spec))
        let capacity = TrialSize.commitsPerWriter(spec)
        let writers = try zip(order.writers, order.recordFiles).map { index, file in
            let records = try RecordBuffer<CommitRecord>(file: file, capacity: capacity, isNew: false)
            return try Writer(index, spec, dataset, shared: plan.shared, inheriting: (records, dueTimesDone))
        }
        let group = WriterGroup(spec, store, writers)
        let (noise, cpu) = (NoiseMeter(), CPUWindow(driver, store, group))
        let beside = order.observes ? try BesideObservers(spec, store) : nil
        try group.begin()
        try channel.send(HostFrame(kind: .ready))
        guard let startNs = try channel.expect(.start)?.integers(1)[0] else { return nil }
        let window = group.open(startNs)
        noise.warmUp(window)
        Pacing.sleep(untilNs: window.startNs)
        noise.begin(window)
        cpu.begin(window)
        try group.awaitEnd { _ in }
        noise.loadEnded()
        // Records are sent after the end of the window.
        Pacing.sleep(untilNs: window.endNs)
        if let beside {
            try channel.send(HostFrame(kind: .loaded))
            guard let goal = try channel.expect(.settle)?.decoded(HostGoal.self) else { return nil }
            try beside.settle(goal)
        }
        let returned = writers.reduce(0) { sum, writer in
            sum + writer.recorder.records.count { $0.committedNs >= window.startNs }
        }
        var findings = Findings(window, commits: returned, affectingCommits: 0)
        cpu.end(into: &findings)
        noise.end(into: &findings)
        for frame in try beside?.frames() ?? [] { try channel.send(frame) }
        group.dismiss()
        return HostReport(cpu: findings.cpu, noise: findings.noise)
    }

    /// Returns one observer of the first query that has received its first delivery.
    private static func observers(_ spec: TrialSpec, _ store: any DrivenStore) throws -> ObserverGroup {
        var alone = spec
        alone.workload = nil
        (alone.observers.count, alone.observers.idleQueries, alone.observers.threads) = (1, 0, 1)
        let group = try ObserverGroup(alone, QueryAssignment(alone), store)
        try group.awaitInitialDeliveries()
        return group
    }
}
