// The observers of a connection: what each was last told, and the state that decides whether a callback may start.
//
// `state` is atomic: `begin` checks *active* and marks *running* in one step, which is the linearisation point against
// `invalidate`. Everything else is used on the connection's scheduler only.
import StillingWellSync
import Synchronization

/// Whether an observer may still be called. The part of it that any thread may use.
///
/// Unchecked because tokens inherit from it; all that it has itself is atomic.
class TokenState: SilencedObserver, @unchecked Sendable {
    static var invalidated: UInt8 { 1 }
    static var running: UInt8 { 2 }
    static var called: UInt8 { 4 }

    final let state = Atomic<UInt8>(0)

    final var isActive: Bool { state.load(ordering: .acquiring) & Self.invalidated == 0 }

    /// Whether a callback is running. Of a token that has been invalidated: whether the last one still is.
    final var isRunning: Bool { state.load(ordering: .acquiring) & Self.running != 0 }

    /// Whether a callback has ever begun.
    final var wasCalled: Bool { state.load(ordering: .acquiring) & Self.called != 0 }

    /// Marks a callback as running; false when the token has been invalidated, and then none may start.
    final func begin() -> Bool {
        Tracing.step()
        while true {
            let seen = state.load(ordering: .acquiring)
            if seen & Self.invalidated != 0 { return false }
            let marked = seen | Self.running | Self.called
            if state.compareExchange(expected: seen, desired: marked, ordering: .acquiringAndReleasing).exchanged {
                return true
            }
        }
    }

    final func end() { state.bitwiseAnd(~Self.running, ordering: .acquiringAndReleasing) }

    /// True for the call that ended the token.
    final func invalidate() -> Bool {
        Tracing.step()
        return state.bitwiseOr(Self.invalidated, ordering: .acquiringAndReleasing).oldValue & Self.invalidated == 0
    }

    /// Lets go of the user's code. On the connection's scheduler.
    func releaseCallback() {}

    var observedQuery: QueryHandle? { nil }
    var isWaiting: Bool { false }
}

/// One observer of one query on one connection.
///
/// Unchecked because what changes is the connection's scheduler's.
final class CollectionToken: TokenState, @unchecked Sendable {
    /// The user's code; released on the connection's scheduler.
    private var deliver: ((DeliveredChange) -> Void)?
    let query: ConnectionQuery
    /// The root this observer was last told about; nil before its initial callback.
    var reported: RankedTree?
    private let awaitsInitial = Atomic(true)
    override var observedQuery: QueryHandle? { query }
    override var isWaiting: Bool { isActive && awaitsInitial.load(ordering: .acquiring) }
    /// Somebody stands behind the observer who takes what is new when he wants it, and has not: `reported` is what he has
    /// taken last. Deliveries apply to it what he is not to hear of, and call nobody.
    var isBehind = false

    init(_ query: ConnectionQuery, _ deliver: @escaping (DeliveredChange) -> Void) {
        self.query = query
        self.deliver = deliver
    }

    /// Its initial callback comes, with this root.
    func begin(with root: RankedTree) {
        reported = root
        awaitsInitial.store(false, ordering: .releasing)
    }

    func tell(_ change: DeliveredChange) { deliver?(change) }
    override func releaseCallback() { deliver = nil }
}

/// What the observer of a collection is told, before it is dressed in the collection's type.
enum DeliveredChange {
    case initial
    case update(KnownChanges, to: RankedTree)
    case failed(StoreError)
}
