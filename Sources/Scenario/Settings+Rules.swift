// Which values cannot stand together. Each rule is checked at every point of every profile, so that a combination which
// only a sweep brings about is found as well, and blamed on the value that came last. Pure.

extension Settings {
    /// Reports every rule that these values break. `whole` is where a value that is missing would have to be added.
    func checkRules(missingAt whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func blame(_ settings: Setting..., because message: String) {
            guard refused.isDisjoint(with: settings) else { return }
            let given = settings.compactMap { self[$0] }
            // The layer that came last is the one somebody has just written; within it, the setting named first.
            let latest = given.map(\.layer).max()
            let place = given.first { $0.layer == latest }?.place
            problems.add(place ?? whole, message)
        }
        checkMissing(whole, into: &problems)

        let isClosed = word(.load) == WritersSpec.Load.closed.rawValue
        for setting in [Setting.rate, .arrivals, .burst] where isClosed && self[setting] != nil {
            blame(
                setting, .load,
                because: "'\(setting.rawValue)' has no meaning with 'load: closed', where each commit starts when the "
                    + "last returned (remove one of the two)")
        }
        let isBursts = word(.arrivals) == WritersSpec.Arrivals.bursts.rawValue
        if isBursts, self[.burst] == nil, !refused.contains(.burst), !isClosed {
            blame(.arrivals, because: "'arrivals: bursts' needs 'writers.burst', the number of commits in a burst")
        }
        if !isBursts, self[.burst] != nil, !isClosed {
            blame(.burst, .arrivals, because: "'writers.burst' has a meaning only with 'arrivals: bursts' (add it)")
        }

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
        guard self[.items] != nil else { return }
        let items = integer(.items)
        let matching = Int((Double(items) * share(.match)).rounded(.down))
        if isRanges, count > matching {
            blame(
                .observerCount, .queries, .items, .match,
                because: "\(count) ranges need a row each, and only \(matching) of \(items) items match "
                    + "(more 'dataset.items', or fewer 'observers.count')")
        }
        if integer(.rowsPerCommit) > items {
            blame(
                .rowsPerCommit, .items,
                because: "'writers.rows_per_commit' is \(integer(.rowsPerCommit)), with 'dataset.items' only \(items)")
        }
    }

    private func checkMissing(_ whole: ScenarioProblem.Place, into problems: inout ProblemList) {
        func isMissing(_ setting: Setting) -> Bool { self[setting] == nil && !refused.contains(setting) }
        if isMissing(.items) { problems.add(whole, "missing key 'dataset.items'; say 'dataset: { items: 10_000 }'") }
        if isMissing(.duration) {
            problems.add(whole, "missing key 'duration'; say 'duration: 5s', or one in every profile")
        }
        if isMissing(.rate), !refused.contains(.load), word(.load) == WritersSpec.Load.open.rawValue {
            problems.add(whole, "missing key 'writers.rate'; say 'rate: 200/s', or 'load: closed'")
        }
    }
}
