// The oracle: replays the history on a model of the table and compares every delivery with it, after the measurement.
// Observers with the same deliveries are replayed once, and only one replay is in memory at a time.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct Oracle {
    let spec: TrialSpec
    let capabilities: Capabilities
    let plan: QueryAssignment
    let history: History
    let logs: [ObserverLog]
    private let dataset: Dataset
    private let initialRows: InitialRows

    init(
        _ spec: TrialSpec, _ capabilities: Capabilities, _ dataset: Dataset, _ plan: QueryAssignment,
        _ history: History, _ logs: [ObserverLog]
    ) {
        (self.spec, self.capabilities, self.plan, self.history, self.logs) = (spec, capabilities, plan, history, logs)
        self.dataset = dataset
        initialRows = InitialRows(dataset)
    }

    /// Checks everything; if commits have no order, only reports that. It reads current rows from `store` and `group`,
    /// and older ones from `held`.
    func verdict(
        _ store: any DrivenStore, _ group: ObserverGroup, held: [any HeldVersion] = []
    ) throws -> OracleVerdict {
        let startNs = MonotonicClock.nowNs()
        var verdict = OracleVerdict(spec: spec)
        if let disorder = history.disorder {
            verdict.add("monotonicity: \(disorder)")
            return verdict
        }
        for log in logs {
            verdict.add(SequenceCheck.violations(log))
            if let fault = log.observer.sampler?.fault {
                verdict.add("whole rows: inside a callback of \(log.observer.name): \(fault)")
            }
        }
        for (name, logs) in Dictionary(grouping: logs, by: { $0.observer.site.name }).sorted(by: { $0.key < $1.key }) {
            verdict.add(SequenceCheck.violations(site: name, logs, together: capabilities.advancesTogether))
        }
        var convergence = Convergence(history, plan, RowShape(spec))
        for alike in groups() {
            let query = alike[0].observer.query
            var rows = initialRows.rows(of: plan.queries[query])
            replay(alike, &rows, &verdict)
            if capabilities.hasContents {
                verdict.add(try convergence.check(query, rows, alike.map(\.observer), store, group))
            }
        }
        for log in logs { checkAnswers(log, &verdict) }
        if capabilities.hasContents { verdict.add(try convergence.checkTable(store)) }
        if capabilities.hasContents { try check(held, &verdict) }
        verdict.rowsCompared = convergence.rowsCompared
        verdict.costNs = MonotonicClock.nowNs() - startNs
        return verdict
    }

    /// Checks what held versions show for the first queries.
    private func check(_ held: [any HeldVersion], _ verdict: inout OracleVerdict) throws {
        if held.isEmpty { return }
        let held = held.sorted { $0.version < $1.version }
        for (query, history) in zip(plan.queries, history.queries).prefix(HeldCheck.mostQueries) {
            var check = HeldCheck(query, history, dataset, initialRows.rows(of: query))
            for version in held where verdict.heldRowsCompared + check.rowsCompared < HeldCheck.mostRows {
                if let violation = try check.violation(version, self.history) { verdict.add(violation) }
            }
            verdict.heldRowsCompared += check.rowsCompared
        }
    }

    /// Replays one representative of observers with the same deliveries. `rows` becomes their query's final state.
    private func replay(_ alike: [ObserverLog], _ rows: inout OrderedRows, _ verdict: inout OracleVerdict) {
        let log = alike[0]
        let query = history.queries[log.observer.query]
        var replay = ChangeSetReplay(rows)
        var shown = ShownRows(alike, plan.queries[log.observer.query], capabilities)
        var done = 0
        var isSound = true
        for index in 0..<log.count {
            let record = log[index]
            // A decreasing version is reported elsewhere and not replayed.
            let covered = query.affecting(before: history.covered(by: record.version))
            let next = max(done, covered)
            let net = query.net(done..<next)
            let problem = check(log, index, net, &replay)
            shown.advance(net)
            verdict.add(shown.problems(at: index, covered == next ? replay.rows : nil))
            if let problem, isSound {
                isSound = false
                let from = index == 0 ? "" : "from version \(log[index - 1].version) "
                let place = "callback \(index) of \(log.observer.name), \(from)to version \(record.version)"
                // The model has advanced by the true changes, not the delivered ones; reverting them gives the old
                // state.
                var before = replay
                before.advance(net.map { .init(key: $0.key, before: $0.after, after: $0.before) })
                let state = log.excerpt(index, from: before.rows, to: replay.rows, around: problem.index)
                verdict.add("change-set replay: \(place): \(problem.sentence) (\(state))")
            }
            if index > 0, net.isEmpty, !log.observer.isIdle { verdict.spurious += alike.count }
            done = next
        }
        verdict.replayed += alike.count * log.count
        verdict.samplesCompared += shown.compared
        let rest = query.net(done..<query.commits.count)
        if !rest.isEmpty || log.count == 0 {
            verdict.missedFinal += alike.count
            for log in alike { verdict.add(missed(log, query)) }
        }
        replay.advance(rest)
        rows = replay.rows
    }

    private func checkAnswers(_ log: ObserverLog, _ verdict: inout OracleVerdict) {
        guard let reader = log.observer.reader else { return }
        let query = plan.queries[log.observer.query]
        var check = AnswerCheck(
            query, history.queries[log.observer.query], dataset, RowShape(spec), initialRows.rows(of: query),
            counting: reader.condition)
        if let violation = check.violation(log, reader, history) { verdict.add(violation) }
        verdict.answersCompared += reader.answers.count
    }

    private func check(
        _ log: ObserverLog, _ index: Int, _ net: [QueryHistory.Touch], _ replay: inout ChangeSetReplay
    ) -> ChangeSetReplay.Problem? {
        guard capabilities.hasChangeSets, let delivered = log.delivered(index) else {
            replay.advance(net)
            return nil
        }
        if log[index].isInitial || index == 0 {
            replay.advance(net)
            if delivered.count != replay.rows.count {
                return .init(nil, "the initial delivery has \(delivered.count) rows, the query \(replay.rows.count)")
            }
            return delivered.isEmpty ? nil : .init(nil, "the initial delivery has a change set")
        }
        return replay.step(net, delivered)
    }

    private func missed(_ log: ObserverLog, _ query: QueryHistory) -> String {
        let last = history.commits[Int(query.commits.last ?? 0)].record.version
        let reached = log.count > 0 ? "is at version \(log[log.count - 1].version)" : "was never called"
        return "convergence: \(log.observer.name) \(reached) and version \(last) changed its rows"
    }

    /// Returns groups of observers that observe the same query and recorded the same deliveries.
    private func groups() -> [[ObserverLog]] {
        var groups: [[ObserverLog]] = []
        var byHash: [Int: [Int]] = [:]
        for log in logs {
            let hash = log.contentHash
            if let found = byHash[hash, default: []].first(where: { groups[$0][0].tellsTheSame(as: log) }) {
                groups[found].append(log)
            } else {
                byHash[hash, default: []].append(groups.count)
                groups.append([log])
            }
        }
        return groups
    }
}

/// The findings of the oracle.
struct OracleVerdict: Sendable {
    /// Maximum number of stored sentences; further violations are only counted.
    static let kept = 10

    /// The trial that violations are located in.
    let spec: TrialSpec
    private(set) var violations: [String] = []
    private(set) var violationCount = 0
    /// Number of observers that were never called, or whose rows changed after the version of their last callback.
    var missedFinal = 0
    /// Number of callbacks of measured observers without any net change since the previous callback.
    var spurious = 0
    /// Number of callbacks that were replayed, including those equal to a replayed one.
    var replayed = 0
    /// Number of rows read and compared at the end.
    var rowsCompared = 0
    /// Number of row samples from callbacks that were compared with the rows at the callback's version.
    var samplesCompared = 0
    /// Number of answers from callbacks. Those of an observer are compared with the rows at their versions up to the
    /// first wrong one.
    var answersCompared = 0
    /// Number of rows of held versions that were compared.
    var heldRowsCompared = 0
    /// Time in ns that the check took, outside the measurement.
    var costNs: Int64 = 0

    mutating func add(_ violation: String) {
        violationCount += 1
        if violations.count < Self.kept { violations.append(spec.located(violation)) }
    }

    mutating func add(_ violations: [String]) { for violation in violations { add(violation) } }
}
