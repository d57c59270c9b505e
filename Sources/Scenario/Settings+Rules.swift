// Which values cannot stand together. Each rule is checked at every point of every profile, so that a combination which
// only a sweep brings about is found as well, and blamed on the value that came last. Pure.

extension Settings {
    /// Reports a rule that settings break together.
    typealias Blame = ([Setting], String) -> Void

    /// Reports every rule that these values break. `whole` is where a value that is missing would have to be added.
    func checkRules(missingAt whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func report(_ settings: [Setting], _ message: String) {
            guard refused.isDisjoint(with: settings) else { return }
            let given = settings.compactMap { self[$0] }
            // The layer that came last is the one somebody has just written; within it, the setting named first.
            let latest = given.map(\.layer).max()
            let place = given.first { $0.layer == latest }?.place
            problems.add(place ?? whole, message)
        }
        func blame(_ settings: Setting..., because message: String) { report(settings, message) }
        checkMissing(whole, into: &problems)

        checkArrivals(report)
        checkKeys(report)
        checkFault(report)

        let count = integer(.observerCount)
        if count == 0, integer(.bystanders) > 0 {
            blame(
                .bystanders, .observerCount,
                because: "bystanders need somebody to stand by: 'observers.count' is 0 (make it at least 1)")
        }
        let isRanges = word(.queries) == ObserversSpec.Queries.ranges.rawValue
        if count == 0, isRanges {
            blame(
                .queries, .observerCount, because: "'queries: ranges' has nothing to divide: 'observers.count' is 0")
        }
        checkSharing(report)
        checkCalls(report)
        guard self[.items] != nil else { return }
        let items = integer(.items)
        let matching = Int((Double(items) * share(.match)).rounded(.down))
        if isRanges, count > matching {
            blame(
                .observerCount, .queries, .items, .match,
                because: "\(count) ranges need a row each, and only \(matching) of \(items) items match "
                    + "(more 'dataset.items', or fewer 'observers.count')")
        }
        // The tenth in which shared queries differ, and the rest, which all of them watch.
        let isFilters = word(.queries) == ObserversSpec.Queries.filters.rawValue
        if isFilters, count > matching / 10 {
            blame(
                .observerCount, .queries, .items, .match,
                because: "\(count) filters differ in a tenth of the \(matching) items that match, too few for a row "
                    + "each (more 'dataset.items', or fewer 'observers.count')")
        }
        if word(.keys) == WritersSpec.Keys.matching.rawValue, matching < 10 * integer(.writerThreads) {
            blame(
                .keys, .writerThreads, .items, .match,
                because: "'keys: matching' leaves \(integer(.writerThreads)) writers too few of the \(matching) items "
                    + "that match (more 'dataset.items')")
        }
        if integer(.rowsPerCommit) > items {
            blame(
                .rowsPerCommit, .items,
                because: "'writers.rows_per_commit' is \(integer(.rowsPerCommit)), with 'dataset.items' only \(items)")
        }
    }

    /// Which rows are written, which are watched, and whether that goes together.
    private func checkSharing(_ blame: Blame) {
        let queries = word(.queries)
        let isRanges = queries == ObserversSpec.Queries.ranges.rawValue
        let isMatching = word(.keys) == WritersSpec.Keys.matching.rawValue
        if isMatching, isRanges {
            blame(
                [.keys, .queries],
                "'keys: matching' draws rows that all observers watch, and 'queries: ranges' share none "
                    + "(write 'queries: overlapping', or leave 'keys' out)")
        }
        if isLockstep {
            if !isMatching {
                blame(
                    [.wait, .keys, .load],
                    "'wait: delivery' waits for all observers, so every commit has to concern them all "
                        + "(write 'keys: matching')")
            }
            if integer(.rowsPerCommit) > 1, changes[WritersSpec.ChangeKind.delete.rawValue] != nil {
                blame(
                    [.change, .rowsPerCommit, .wait, .load],
                    "'wait: delivery' waits for all observers, and nobody is called for a commit that deletes what it "
                        + "inserted (one row per commit, or no 'delete')")
            }
            if integer(.writerThreads) > 1 {
                blame(
                    [.wait, .writerThreads, .load],
                    "'wait: delivery' is one writer that waits for its observers; 'writers.threads' is "
                        + "\(integer(.writerThreads))")
            }
        }
        if queries == ObserversSpec.Queries.filters.rawValue, word(.primaryKeys) == DatasetSpec.Keys.uuid.rawValue {
            blame(
                [.queries, .primaryKeys],
                "'queries: filters' takes shares of the keys, which random ones do not have (remove one of the two)")
        }
        if self[.groups] != nil, integer(.groups) < integer(.bystanders) {
            blame(
                [.groups, .bystanders],
                "\(integer(.bystanders)) bystanders watch a group each, and there are \(integer(.groups)) "
                    + "(more 'dataset.groups', or leave it out)")
        }
    }

    /// What observing threads do beside observing.
    private func checkCalls(_ blame: Blame) {
        guard integer(.observerCount) == 0 else { return }
        if word(.calls) != ObserversSpec.Calls.none.rawValue {
            blame([.calls, .observerCount], "'observers.calls' needs an observing thread: 'observers.count' is 0")
        }
        if word(.subscribe) != ObserversSpec.Subscribe.idle.rawValue {
            blame([.subscribe, .observerCount], "'observers.subscribe' needs observers: 'observers.count' is 0")
        }
        if word(.audit) != ObserversSpec.Audit.none.rawValue {
            blame([.audit, .observerCount], "'observers.audit' needs somebody who looks: 'observers.count' is 0")
        }
        if integer(.churn) > 0 {
            blame([.churn, .observerCount], "'observers.churn' come and go beside observers: 'observers.count' is 0")
        }
        if integer(.operators) > 0 {
            blame([.operators, .observerCount], "'observers.operators' lead to nobody: 'observers.count' is 0")
        }
    }

    private func checkMissing(_ whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func isMissing(_ setting: Setting) -> Bool { self[setting] == nil && !refused.contains(setting) }
        if isMissing(.items) { problems.add(whole, "missing key 'dataset.items'; say 'dataset: { items: 10_000 }'") }
        if isMissing(.duration) {
            problems.add(whole, "missing key 'duration'; say 'duration: 5s', or one in every profile")
        }
        let needsRate =
            word(.load) == WritersSpec.Load.open.rawValue && word(.arrivals) != WritersSpec.Arrivals.trace.rawValue
        if isMissing(.rate), !refused.contains(.load), !refused.contains(.arrivals), needsRate {
            problems.add(whole, "missing key 'writers.rate'; say 'rate: 200/s', or 'load: closed'")
        }
    }
}
