// Which query each observer of a trial watches. Pure.
import Scenario
import StoreDriver

/// The distinct queries of a trial and who watches which.
struct QueryPlan: Sendable {
    /// Distinct; the main ones first.
    let queries: [Query]
    /// Of each observer, then of each bystander: the index of its query.
    let queryOfObserver: [Int]
    /// Observers before this index are measured, the others are bystanders.
    let mainObservers: Int

    init(_ observers: ObserversSpec) {
        let order: Query.Order =
            switch observers.sort {
            case .none: .none
            case .scoreAscending: .scoreAscending
            case .scoreDescending: .scoreDescending
            }
        let lowest = Int64(((1 - observers.match) * 0x1p31).rounded())
        let distinct =
            switch observers.queries {
            case .same: min(observers.count, 1)
            case .ranges: observers.count
            }
        let span = (1 << 31) - lowest
        let main = (0..<distinct).map { index in
            let lower = Score.bound(lowest + span * Int64(index) / Int64(distinct))
            let upper = Score.bound(lowest + span * Int64(index + 1) / Int64(distinct))
            return Query(scores: lower..<upper, order: order)
        }
        let bystanders = (0..<observers.bystanders).map { Query(group: Int64($0 + 1), order: order) }
        queries = main + bystanders
        queryOfObserver =
            (0..<observers.count).map { distinct == 1 ? 0 : $0 } + bystanders.indices.map { distinct + $0 }
        mainObservers = observers.count
    }
}
