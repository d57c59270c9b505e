// What writers have done, as a history: at once where commits return versions; where they return tokens, when the deliveries are
// known that tell their order. The conducting thread, off the clock.
import Measure
import Scenario
import StoreDriver
import Trials

struct Past {
    private let setup: TrialSetup
    private let window: Window
    private let records: [RecordBuffer<CommitRecord>]
    private let late: (any LateVersions)?

    /// - Parameter records: of each writer; all have ended.
    init(_ setup: TrialSetup, _ window: Window, _ records: [RecordBuffer<CommitRecord>]) {
        (self.setup, self.window, self.records) = (setup, window, records)
        late = setup.store as? any LateVersions
    }

    /// Returns when every observer has been called for what changed its rows, or none is called any more.
    /// - Returns: what is known by then; of late versions the order of the last commits may change until `finish`.
    func settle() throws -> History {
        let order = try order()
        let history = history(order)
        try setup.group.awaitQuiescence(history, standing: order?.standing)
        return history
    }

    /// Puts versions in place of tokens, in the history and in what observers have written down.
    func finish(_ history: inout History, _ logs: [ObserverLog], into findings: inout Findings) throws {
        guard let order = try order() else { return }
        history = self.history(order)
        for log in logs { log.observer.recorder.renumber(first: log.count, order.standing) }
        if let problem = order.problem { findings.violations.append(setup.spec.located(problem)) }
    }

    private func order() throws -> LateOrder? {
        try late?.order(ofCommits: records.flatMap { $0.lazy.map(\.version) })
    }

    private func history(_ order: LateOrder?) -> History {
        guard let order else { return history(records) }
        return history(
            records.map { records in
                records.map { record in
                    var record = record
                    record.version = order.versions[record.version] ?? 0
                    return record
                }
            })
    }

    private func history(_ writers: [some Collection<CommitRecord>]) -> History {
        History(
            spec: setup.spec, dataset: setup.dataset, plan: setup.plan, writers: writers,
            missed: MissedCommit.rest(of: setup.spec, window, made: writers.map(\.count)))
    }
}
