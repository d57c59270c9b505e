// The observers of a connection: what each was last told, and the state that decides whether a callback may start.
//
// `state` is atomic: `begin` checks *active* and marks *running* in one step, which is the linearisation point against
// `invalidate`. Everything else is used on the connection's scheduler only, and without the runtime's check for that
// (ConnectionQuery.swift).
import StillingWellSync
import Synchronization

/// Whether an observer may still be called. The part of it that any thread may use.
///
/// Unchecked because tokens inherit from it; all that it has itself is atomic.
@usableFromInline package class TokenState: @unchecked Sendable {
    @inlinable static var invalidated: UInt8 { 1 }
    @inlinable static var running: UInt8 { 2 }
    @inlinable static var called: UInt8 { 4 }

    @usableFromInline final let state = Atomic<UInt8>(0)

    @inlinable package final var isActive: Bool { state.load(ordering: .acquiring) & Self.invalidated == 0 }

    /// Whether a callback is running. Of a token that has been invalidated: whether the last one still is.
    final var isRunning: Bool { state.load(ordering: .acquiring) & Self.running != 0 }

    /// Whether a callback has ever begun.
    package final var wasCalled: Bool { state.load(ordering: .acquiring) & Self.called != 0 }

    /// Marks a callback as running; false when the token has been invalidated, and then none may start.
    @inlinable
    package final func begin() -> Bool {
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

    @inlinable
    package final func end() { state.bitwiseAnd(~Self.running, ordering: .acquiringAndReleasing) }

    /// True for the call that ended the token.
    package final func invalidate() -> Bool {
        Tracing.step()
        return state.bitwiseOr(Self.invalidated, ordering: .acquiringAndReleasing).oldValue & Self.invalidated == 0
    }

    /// Lets go of the user's code. On the connection's scheduler.
    package func releaseCallback() {}
}

/// One observer of one query on one connection.
///
/// Unchecked because what changes is the connection's scheduler's.
package final class CollectionToken: TokenState, @unchecked Sendable {
    /// The user's code; released on the connection's scheduler.
    @exclusivity(unchecked) private var deliver: ((DeliveredChange) -> Void)?
    package let query: ConnectionQuery
    /// The root this observer was last told about; nil before its initial callback.
    @exclusivity(unchecked) package var reported: RankedTree?
    private let awaitsInitial = Atomic(true)
    /// Whether its initial callback is still to come. Any thread.
    package var isWaiting: Bool { isActive && awaitsInitial.load(ordering: .acquiring) }
    /// Somebody stands behind the observer who takes what is new when he wants it, and has not: `reported` is what he has
    /// taken last. Deliveries apply to it what he is not to hear of, and call nobody.
    @exclusivity(unchecked) package var isBehind = false

    package init(_ query: ConnectionQuery, _ deliver: @escaping (DeliveredChange) -> Void) {
        self.query = query
        self.deliver = deliver
    }

    /// Its initial callback comes, with this root.
    package func begin(with root: RankedTree) {
        reported = root
        awaitsInitial.store(false, ordering: .releasing)
    }

    package func tell(_ change: DeliveredChange) { deliver?(change) }
    package override func releaseCallback() { deliver = nil }
}

/// What the observer of a collection is told, before it is dressed in the collection's type.
package enum DeliveredChange {
    case initial
    case update(KnownChanges, to: RankedTree)
    case failed(StoreError)
}
