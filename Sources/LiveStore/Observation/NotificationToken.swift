// What a subscription is held by, and the state that decides whether a callback may start.
//
// `state` is atomic: `begin` checks *active* and marks *running* in one step, which is the linearisation point against
// `invalidate`. Everything else in TokenState is used on the connection's scheduler only.
import Logging
import Synchronization

/// One observer of one query on one connection.
final class TokenState: @unchecked Sendable {
    private static let invalidated: UInt8 = 1
    private static let running: UInt8 = 2

    private let state = Atomic<UInt8>(0)
    /// The user's code; released on the connection's scheduler.
    private(set) var deliver: ((DeliveredChange) -> Void)?
    /// The root this observer was last told about; nil before its initial callback.
    var reported: RankedTree?

    init(_ deliver: @escaping (DeliveredChange) -> Void) { self.deliver = deliver }

    var isActive: Bool { state.load(ordering: .acquiring) & Self.invalidated == 0 }

    /// Marks a callback as running; false when the token has been invalidated, and then none may start.
    func begin() -> Bool {
        while true {
            let seen = state.load(ordering: .acquiring)
            if seen & Self.invalidated != 0 { return false }
            let marked = seen | Self.running
            if state.compareExchange(expected: seen, desired: marked, ordering: .acquiringAndReleasing).exchanged {
                return true
            }
        }
    }

    func end() { state.bitwiseAnd(~Self.running, ordering: .acquiringAndReleasing) }

    /// True for the call that ended the token.
    func invalidate() -> Bool {
        state.bitwiseOr(Self.invalidated, ordering: .acquiringAndReleasing).oldValue & Self.invalidated == 0
    }

    /// Lets go of the user's code. On the connection's scheduler.
    func releaseCallback() { deliver = nil }
}

/// What a token is told, before it is dressed in the collection's type.
enum DeliveredChange {
    case initial
    case update(ChangeSet, from: RankedTree, to: RankedTree)
    case failed(StoreError)
}

/// Keeps a subscription alive. Keep it as long as the callback is wanted, then call `invalidate()`; a token that is
/// dropped stops its subscription too, and logs where it was made, because that is mostly a mistake.
public final class NotificationToken: @unchecked Sendable {
    // `connection` and `query` are used by messages to the scheduler only; releasing them is safe anywhere.
    private let state: TokenState
    private let remove: @Sendable () -> Void
    private let place: String

    init(_ state: TokenState, madeAt place: String, remove: @escaping @Sendable () -> Void) {
        self.state = state
        self.remove = remove
        self.place = place
    }

    deinit {
        guard state.invalidate() else { return }
        remove()
        Logger(label: "livestore").warning(
            "a notification token made at \(place) was dropped without invalidate(): its callback has stopped; keep the token"
        )
    }

    /// Ends the subscription. Any thread, inside the callback too, any number of times. Once it has returned no callback
    /// starts; it does not wait for one that is running.
    public func invalidate() {
        if state.invalidate() { remove() }
    }
}
