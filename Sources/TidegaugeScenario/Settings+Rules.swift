// Rules for combinations of values. Each is checked at every point of every profile, so that conflicts within a sweep
// are found, and reported for the value of the latest layer. Pure.
import TidegaugeSpec

extension Settings {
    /// Reports a broken rule for settings.
    typealias Blame = (_ isBroken: Bool, [Setting], @autoclosure () -> String) -> Void

    /// Reports all rules that these values break. `whole` is the position for missing values.
    func checkRules(missingAt whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func report(_ isBroken: Bool, _ settings: [Setting], _ message: @autoclosure () -> String) {
            guard isBroken, refused.isDisjoint(with: settings) else { return }
            let given = settings.compactMap { self[$0] }
            // Reports the value of the latest layer; within a layer, the setting that is listed first.
            let latest = given.map(\.layer).max()
            let place = given.first { $0.layer == latest }?.place
            problems.add(place ?? whole, message())
        }
        checkMissing(whole, into: &problems)
        checkArrivals(report)
        checkRequiredSettings(report)
        checkKeys(report)
        checkFault(report)
        checkServer(report)
        checkObservers(report)
        checkReads(report)
        checkSharing(report)
        if self[.items] != nil { checkSizes(report) }
    }

    private func checkMissing(_ whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func isMissing(_ setting: Setting) -> Bool { self[setting] == nil && !refused.contains(setting) }
        if isMissing(.items) { problems.add(whole, "missing key 'dataset.items'; write 'dataset: { items: 10_000 }'") }
        if isMissing(.duration) {
            problems.add(whole, "missing key 'duration'; write 'duration: 5s', or one in every profile")
        }
        let needsRate = writers.load == .open && writers.arrivals != .trace
        if isMissing(.rate), !refused.contains(.load), !refused.contains(.arrivals), needsRate {
            problems.add(whole, "missing key 'writers.rate'; write 'rate: 200/s', or 'load: closed'")
        }
    }

    private static let requirements = Setting.allCases.compactMap { setting in
        setting.row.required.map { (setting, $0) }
    }

    /// Rules for settings that require another setting.
    private func checkRequiredSettings(_ blame: Blame) {
        for (setting, required) in Self.requirements {
            // Neither setting applies to a closed load, which is reported already.
            if required.setting == .arrivals, writers.load != .open { continue }
            let isThat = required.words.contains(word(required.setting))
            blame(
                isThat && value(setting) == nil && !refused.contains(setting), [required.setting],
                "'\(required.setting.key): \(word(required.setting))' needs '\(setting.rawValue)' "
                    + "(\(setting.row.noun))")
            blame(
                !isThat && self[setting] != nil, [setting, required.setting],
                "'\(setting.rawValue)' applies only with \(required.text) "
                    + (required.words.count > 1 ? "(add one of them)" : "(add it)"))
        }
    }

    /// Rules for settings that require observers.
    private func checkObservers(_ blame: Blame) {
        guard observers.count == 0 else { return }
        func needs(_ setting: Setting, _ isAsked: Bool, _ why: String) {
            blame(isAsked, [setting, .observerCount], "\(why): 'observers.count' is 0")
        }
        blame(
            observers.idleQueries > 0, [.idleQueries, .observerCount],
            "'observers.idle_queries' requires 'observers.count' of at least 1")
        needs(.queries, observers.queries == .ranges, "'queries: ranges' requires observers")
        needs(.calls, observers.calls != .none, "'observers.calls' requires an observing thread")
        needs(.subscribe, observers.subscribe != .idle, "'observers.subscribe' requires observers")
        needs(.audit, observers.audit != .none, "'observers.audit' requires observers")
        needs(.churn, observers.churn != nil, "'observers.churn' requires observers")
        needs(
            .publisherChainLength, observers.publisherChainLength > 0,
            "'observers.publisher_chain_length' requires observers")
    }

    /// Rules for reads, whose answers the oracle computes from the rows of the query.
    private func checkReads(_ blame: Blame) {
        guard let reads = observers.reads else { return }
        let name = "'reads: \(reads.rawValue)'"
        blame(observers.count == 0, [.reads, .observerCount], "\(name) requires callbacks: 'observers.count' is 0")
        blame(
            dataset.links > 0, [.reads, .links],
            "\(name) and 'dataset.links' cannot be combined (remove one of the two)")
        blame(
            observers.sort == .list, [.reads, .sort],
            "\(name) requires a query, and 'sort: list' is none (write another sort, or remove 'reads')")
        blame(
            writers.arrivals == .trace, [.reads, .arrivals],
            "\(name) does not apply with 'arrivals: trace', which has its own queries (remove one of the two)")
        blame(
            reads == .window && observers.sort == .none, [.reads, .sort],
            "\(name) reads the first rows, so it requires an order (write 'sort: -score')")
        blame(
            reads == .open && point.spec.durability == "memory", [.reads, .durability],
            "\(name) requires a store that can be closed and opened again (write 'durability: relaxed')")
        checkCondition(blame)
    }

    /// Rules for the condition of a count, which the oracle can check only if observers watch all rows by score.
    private func checkCondition(_ blame: Blame) {
        guard let text = observers.condition, let condition = try? ConditionSpec(text) else { return }
        let name = "'where: \(text)'"
        blame(
            observers.match != 1 || observers.queries != .same, [.condition, .match, .queries],
            "\(name) requires observers of all rows (write 'match: 1', and no other 'queries')")
        blame(
            observers.sort == .none, [.condition, .sort], "\(name) requires an order by score (write 'sort: -score')")
        blame(
            dataset.groups > 0, [.condition, .groups, .idleQueries],
            "\(name) does not apply with rows of idle queries (remove 'groups' and 'idle_queries')")
        blame(
            observers.audit != .none, [.condition, .audit],
            "\(name) excludes 'observers.audit' (remove one of the two)")
        blame(
            condition.readsText && dataset.textCharacters == nil, [.condition, .textCharacters],
            "\(name) requires rows with texts (write 'dataset.text_characters')")
    }

    /// Rules for the relation of written and observed rows.
    private func checkSharing(_ blame: Blame) {
        blame(
            writers.keys == .matching && observers.queries == .ranges, [.keys, .queries],
            "'keys: matching' requires rows that all observers watch, and 'queries: ranges' share none (write "
                + "'queries: overlapping', or remove 'keys')")
        if isLockstep { checkLockstep(blame) }
        blame(
            observers.queries == .filters && dataset.keys == .uuid, [.queries, .primaryKeys],
            "'queries: filters' requires ascending keys (write 'dataset.keys: ascending', or other queries)")
        blame(
            self[.groups] != nil && dataset.groups < observers.idleQueries, [.groups, .idleQueries],
            "\(observers.idleQueries) idle queries require as many groups, and 'dataset.groups' is \(dataset.groups) "
                + "(a larger number, or remove it)")
    }

    private func checkLockstep(_ blame: Blame) {
        blame(
            writers.keys != .matching, [.wait, .keys, .load],
            "'wait: delivery' waits for all observers, so every commit must affect all of them (write 'keys: "
                + "matching')")
        blame(
            writers.rowsPerCommit > 1 && writers.changes[WritersSpec.ChangeKind.delete.rawValue] != nil,
            [.change, .rowsPerCommit, .wait, .load],
            "'wait: delivery' waits for all observers, and none is called for a commit that deletes the row that it "
                + "inserted (one row per commit, or no 'delete')")
        blame(
            writers.threads > 1, [.wait, .writerThreads, .load],
            "'wait: delivery' requires a single writer; 'writers.threads' is \(writers.threads)")
    }

    /// Maximum bytes of all rows' texts and payloads.
    private static let mostBytes = 4_000_000_000

    /// Rules for the number and the size of rows.
    private func checkSizes(_ blame: Blame) {
        let (items, count) = (dataset.items, observers.count)
        let held = items * ((dataset.textCharacters ?? 0) + (dataset.payloadBytes ?? 0))
        blame(
            held > Self.mostBytes, [.payloadBytes, .textCharacters, .items],
            "\(items) rows would take \(held / 1_000_000) MB, at most \(Self.mostBytes / 1_000_000) MB are possible "
                + "(fewer 'dataset.items', or smaller rows)")
        let matching = Int((Double(items) * observers.match).rounded(.down))
        blame(
            observers.queries == .ranges && count > matching, [.observerCount, .queries, .items, .match],
            "\(count) ranges require a row each, and only \(matching) of \(items) items match (more 'dataset.items', "
                + "or fewer 'observers.count')")
        // The queries differ within a tenth of the matching rows and share the rest.
        blame(
            observers.queries == .filters && count > matching / 10, [.observerCount, .queries, .items, .match],
            "\(count) filters differ in a tenth of the \(matching) items that match, too few for a row "
                + "each (more 'dataset.items', or fewer 'observers.count')")
        blame(
            writers.keys == .matching && matching < 10 * writers.count, [.keys, .writerThreads, .items, .match],
            "'keys: matching' gives \(writers.count) writers too few of the \(matching) items that match (more "
                + "'dataset.items')")
        blame(
            writers.rowsPerCommit > items, [.rowsPerCommit, .items],
            "'writers.rows_per_commit' is \(writers.rowsPerCommit), and 'dataset.items' is only \(items) (more "
                + "items, or fewer rows)")
    }
}
