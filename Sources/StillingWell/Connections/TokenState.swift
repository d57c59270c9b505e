// The observers of a connection: what each was last told, and whether its callback may start.
//
// `state` is atomic. `begin` tests *invalidated* and sets *running* in one step, which is the linearisation point
// against `invalidate`. What is not atomic is used on the connection's scheduler only.
import StillingWellSync
import Synchronization

/// Whether an observer may still be called: the part of a token that any thread may use.
///
/// Unchecked because tokens inherit from it; all that it has itself is atomic.
class TokenState: SilencedObserver, @unchecked Sendable {
    static var invalidated: UInt8 { 1 }
    static var running: UInt8 { 2 }
    static var called: UInt8 { 4 }

    final let state = Atomic<UInt8>(0)

    final var isActive: Bool { state.load(ordering: .acquiring) & Self.invalidated == 0 }

    /// Whether a callback is running. It may still run after the token was invalidated. False after a nested call of a
    /// property's observer, although the outer call still runs.
    final var isRunning: Bool { state.load(ordering: .acquiring) & Self.running != 0 }

    final var wasCalled: Bool { state.load(ordering: .acquiring) & Self.called != 0 }

    /// Marks a callback as running. Returns false if the token was invalidated; then no callback may start.
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

    /// Invalidates the token. Returns true for the call that ended it.
    final func invalidate() -> Bool {
        Tracing.step()
        return state.bitwiseOr(Self.invalidated, ordering: .acquiringAndReleasing).oldValue & Self.invalidated == 0
    }

    /// Releases the callback. On the connection's scheduler, or when the connection ends.
    func releaseCallback() {}

    var observedQuery: QueryHandle? { nil }
    var isWaiting: Bool { false }
}

/// One observer of one query on one connection.
///
/// Unchecked because only the connection's scheduler uses its variables, except the atomic one.
final class CollectionToken: TokenState, @unchecked Sendable {
    /// User's callback. Released on the connection's scheduler, or when the connection ends.
    private var deliver: ((DeliveredChange) -> Void)?
    let query: ConnectionQuery
    /// Tree of rows that this observer was last told about. nil before its initial callback.
    var reported: RankedTree?
    private let awaitsInitial = Atomic(true)
    override var observedQuery: QueryHandle? { query }
    override var isWaiting: Bool { isActive && awaitsInitial.load(ordering: .acquiring) }
    /// Whether the consumer of a `Feed` has not taken the last update yet. `reported` is then what it took last.
    /// Deliveries apply suppressed commits to it and do not call the observer.
    var isBehind = false

    init(_ query: ConnectionQuery, _ deliver: @escaping (DeliveredChange) -> Void) {
        self.query = query
        self.deliver = deliver
    }

    /// Sets the tree that the initial callback shows.
    func begin(with root: RankedTree) {
        reported = root
        awaitsInitial.store(false, ordering: .releasing)
    }

    func tell(_ change: DeliveredChange) { deliver?(change) }
    override func releaseCallback() { deliver = nil }
}

/// A collection change before it is converted to the collection's public type.
enum DeliveredChange {
    case initial
    case update(KnownChanges, to: RankedTree)
    case failed(StoreError)
}
