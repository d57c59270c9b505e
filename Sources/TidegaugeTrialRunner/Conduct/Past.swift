// Makes the history of the writers. It is final if commits return versions; if they return tokens, their order is known
// only after the deliveries. Used on the conducting thread.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct Past {
    private let setup: TrialSetup
    private let window: Window
    private let records: [RecordBuffer<CommitRecord>]
    private let late: (any LateVersions)?

    /// - Parameter records: records of each writer; all have ended.
    init(_ setup: TrialSetup, _ window: Window, _ records: [RecordBuffer<CommitRecord>]) {
        (self.setup, self.window, self.records) = (setup, window, records)
        late = setup.store as? any LateVersions
    }

    /// Returns once every measured observer has been called for its changes, or once callbacks have ceased.
    /// - Returns: the history so far. For late versions the order of the last commits may change until `finish`, and
    ///   `tokens` maps versions to their tokens.
    func settle() throws -> (history: History, tokens: [Int64: Int64]?) {
        let order = try order()
        let history = history(order)
        try setup.group.awaitQuiescence(history, standing: order?.standing)
        let tokens = order.map { Dictionary($0.versions.map { ($1, $0) }) { $1 } }
        return (history, tokens)
    }

    /// Replaces tokens by versions in the history and in the observers' records, here and on hosts.
    func finish(
        _ history: inout History, _ logs: [ObserverLog], _ echoes: [Echo], into findings: inout Findings
    ) throws {
        let telling = echoes.filter { $0.shown != nil }
        guard let order = try order(alsoShown: telling.compactMap(\.shown)) else { return }
        history = self.history(order)
        for log in logs { log.observer.recorder.renumber(first: log.count, order.standing) }
        for (echo, standing) in zip(telling, order.standingElsewhere) {
            for log in echo.logs { log.observer.recorder.renumber(first: log.count, standing) }
        }
        if let problem = order.problem { findings.violations.append(setup.spec.located(problem)) }
    }

    private func order(alsoShown others: [Data] = []) throws -> LateOrder? {
        try late?.order(ofCommits: records.flatMap { $0.lazy.map(\.version) }, alsoShown: others)
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
