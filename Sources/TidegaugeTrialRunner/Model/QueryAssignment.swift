// Assigns a query to each observer of a trial. Pure.
import TidegaugeDriver
import TidegaugeSpec

struct QueryAssignment: Sendable {
    /// The main queries, then the idle ones; last those observed for a part of the load.
    let queries: [Query]
    /// Index of the query of each observer, then of each idle query's observer.
    let queryOfObserver: [Int]
    /// Observers before this index are measured; the others observe idle queries.
    let mainObservers: Int
    /// Rows that all measured observers observe, for any number of observers; no rows for `ranges` and recorded
    /// workloads.
    let shared: Query

    /// Uses the lasting queries of a recorded workload if there is one, otherwise those of the spec's observers.
    init(_ spec: TrialSpec) {
        if let workload = spec.workload {
            self.init(workload, spec.observers)
        } else {
            self.init(spec.observers, items: spec.dataset.items)
        }
    }

    private init(_ workload: WorkloadSpec, _ observers: ObserversSpec) {
        let asked = observers.count > 0 ? workload.lasting.map { workload.query($0) } : []
        var distinct: [Query] = []
        for query in asked where !distinct.contains(query) { distinct.append(query) }
        let idleQueries = (0..<observers.idleQueries).map { Query(group: Int64($0 + 1)) }
        let watched = distinct + idleQueries
        let passing = workload.passing.map { workload.query($0) }
        queries = passing.reduce(into: watched) { all, query in if !all.contains(query) { all.append(query) } }
        queryOfObserver =
            asked.map { query in distinct.firstIndex(of: query)! } + idleQueries.indices.map { distinct.count + $0 }
        mainObservers = asked.count
        shared = Query(scores: 0..<0)
    }

    /// - Parameter items: number of items in the dataset.
    init(_ observers: ObserversSpec, items: Int) {
        let order: Query.Order =
            switch observers.sort {
            case .none: .none
            case .scoreAscending: .scoreAscending
            case .scoreDescending: .scoreDescending
            case .list: .list
            }
        let distinct = observers.queries == .same ? min(observers.count, 1) : observers.count
        let match = MatchShare(observers.match, items: items)
        let main = (0..<distinct).map { index in
            switch observers.queries {
            case .same where order == .list: Query(group: 0, order: .list)
            case .same, .ranges: Query(scores: match.scores(index, of: distinct), order: order)
            case .overlapping: Query(scores: match.scores(from: 0.1 * Double(index) / Double(distinct)), order: order)
            case .filters: Query(keys: match.keys(from: 0.1 * Double(index) / Double(distinct)), order: order)
            }
        }
        shared =
            switch observers.queries {
            case .same: order == .list ? Query(group: 0) : Query(scores: match.scores(0, of: 1))
            case .ranges: Query(scores: 0..<0)
            case .overlapping: Query(scores: match.scores(from: 0.1))
            case .filters: Query(keys: match.keys(from: 0.1))
            }
        let idleQueries = (0..<observers.idleQueries).map { Query(group: Int64($0 + 1), order: order) }
        queries = main + idleQueries
        queryOfObserver =
            (0..<observers.count).map { distinct == 1 ? 0 : $0 } + idleQueries.indices.map { distinct + $0 }
        mainObservers = observers.count
    }
}

/// The observed upper share of the items, by score or by key, and its parts.
private struct MatchShare {
    private let lowestScore: Int64
    private let scoreSpan: Int64
    private let lowestKey: Int64
    private let keySpan: Int64

    init(_ share: Double, items: Int) {
        lowestScore = Int64(((1 - share) * 0x1p31).rounded())
        scoreSpan = (1 << 31) - lowestScore
        keySpan = Int64((share * Double(items)).rounded(.down))
        lowestKey = Int64(items) - keySpan
    }

    /// Returns the i-th of n equal parts.
    func scores(_ index: Int, of count: Int) -> Range<Int64> {
        let lower = Score.bound(lowestScore + scoreSpan * Int64(index) / Int64(count))
        let upper = Score.bound(lowestScore + scoreSpan * Int64(index + 1) / Int64(count))
        return lower..<upper
    }

    /// Returns everything except the lowest `part`.
    func scores(from part: Double) -> Range<Int64> {
        Score.bound(lowestScore + Int64(part * Double(scoreSpan)))..<Int64.max
    }

    /// Returns everything except the lowest `part`. New rows have higher keys than all loaded ones, so they match.
    func keys(from part: Double) -> Range<Int64> { lowestKey + Int64(part * Double(keySpan))..<Int64.max }
}
