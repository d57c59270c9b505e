// The handle of a subscription.
import Logging

/// Keeps a subscription alive. Hold it as long as callbacks are wanted, then call `invalidate()`. A token that is
/// released also ends its subscription. If its callback was never called by then, a warning with its source location is
/// logged.
public final class NotificationToken: Sendable {
    let state: TokenState
    /// Store that it observes, and the thread that keeps that store's queries up to date, while it runs. Commits with
    /// suppressed notifications use them.
    let storage: Storage
    let upkeep: @Sendable () -> Upkeep?
    private let remove: @Sendable () -> Void
    private let place: String

    init(
        _ state: TokenState, _ storage: Storage, upkeep: @escaping @Sendable () -> Upkeep?, madeAt place: String,
        remove: @escaping @Sendable () -> Void
    ) {
        self.state = state
        self.storage = storage
        self.upkeep = upkeep
        self.remove = remove
        self.place = place
    }

    deinit {
        guard state.invalidate() else { return }
        remove()
        // No warning after a callback: the token was used.
        if state.wasCalled { return }
        Logger(label: "stillingwell").warning(
            """
            a notification token made at \(place) was dropped without invalidate(), and its callback was never called: it has \
            stopped; keep the token
            """
        )
    }

    /// Ends the subscription. Any thread, also inside the callback, any number of times. After it returns no callback
    /// starts. It does not wait for a running one.
    public func invalidate() { if state.invalidate() { remove() } }
}
