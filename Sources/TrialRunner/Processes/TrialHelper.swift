// The other side of a `HelperOrder`: a process that only writes, or only observes, in a store that others have open too.
import CPlatform
import Foundation
import Measure
import Scenario
import StoreDriver
import TracedSync

public enum TrialHelper {
    /// Does what the first line of standard input says. Returns normally when it is through.
    /// - Throws: what keeps it from beginning.
    public static func run(drivers: [any StoreDriver]) throws {
        // A trial that ends, however it ends, takes its helpers along.
        cp_die_with_parent()
        guard let line = readLine(), let data = line.data(using: .utf8) else {
            throw TrialCommand.Refusal(description: "trial helper: standard input holds no order")
        }
        let order = try JSONDecoder().decode(HelperOrder.self, from: data)
        guard let driver = drivers.first(where: { $0.name == order.spec.driver }) else {
            throw TrialCommand.Refusal(description: "trial helper: there is no driver '\(order.spec.driver)'")
        }
        let store = try driver.open(StoreConfiguration(order.spec, directory: order.storeDirectory))
        switch order.role {
        case .writer(let index, let done, let path):
            try write(order.spec, store, index: index, dueTimesDone: done, path: path)
        case .observer: try observe(order.spec, store)
        }
    }

    private static func write(
        _ spec: TrialSpec, _ store: any DrivenStore, index: Int, dueTimesDone: Int, path: String
    ) throws {
        let dataset = Dataset(spec)
        let plan = QueryAssignment(spec)
        let records = try RecordBuffer<CommitRecord>(
            file: path, capacity: TrialSize.commitsPerWriter(spec), isNew: true)
        let writer = try Writer(index, spec, dataset, shared: plan.shared, inheriting: (records, dueTimesDone))
        let start = Gate("helper ready")
        let end = Gate("helper done")
        let thread = TracedThread(writer.name) { writer.run(store, start: start, end: end) }
        while start.arrivals + end.arrivals == 0 { Pacing.sleep(untilNs: MonotonicClock.nowNs() + 500_000) }
        say("ready")
        guard let word = readLine(), let windowNs = Int64(word) else { return }
        start.open(windowNs)
        while end.arrivals == 0 { Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000) }
        let overflow = writer.recorder.overflowCount > 0 ? "more commits than could be recorded" : ""
        say("done \(writer.fault?.description ?? overflow)")
        end.open(0)
        thread.join()
    }

    private static func observe(_ spec: TrialSpec, _ store: any DrivenStore) throws {
        var alone = spec
        alone.workload = nil
        (alone.observers.count, alone.observers.bystanders, alone.observers.threads) = (1, 0, 1)
        let group = try ObserverGroup(alone, QueryAssignment(alone), store)
        try group.awaitInitialDeliveries()
        say("ready")
        // Until it is killed, or until the trial is gone.
        while readLine() != nil {}
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
