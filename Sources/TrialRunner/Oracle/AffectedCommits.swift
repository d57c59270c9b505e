// Which commits concern anyone who is measured, for the figures that are per affecting commit. Immutable.

struct AffectedCommits: Sendable {
    private let history: History
    private let affects: [Bool]

    init(_ history: History, _ plan: QueryAssignment) {
        self.history = history
        var affects = Array(repeating: false, count: history.commits.count)
        for query in Set(plan.queryOfObserver.prefix(plan.mainObservers)) {
            for commit in history.queries[query].commits { affects[Int(commit)] = true }
        }
        self.affects = affects
    }

    /// Commits that returned at or after `ns`; only those that affect a measured observer where `affecting`.
    func count(from ns: Int64, affecting: Bool) -> Int {
        history.commits.indices.count {
            history.commits[$0].record.committedNs >= ns && (!affecting || affects[$0])
        }
    }
}
