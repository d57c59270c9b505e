// What a subscription is held by. The state behind it is in TokenState.swift.
import Logging

/// Keeps a subscription alive. Keep it as long as the callback is wanted, then call `invalidate()`; a token that is
/// dropped stops its subscription too. One that is dropped before its callback was ever called logs where it was made: that
/// is mostly a mistake.
public final class NotificationToken: Sendable {
    let state: TokenState
    /// The store it observes, and its upkeep while that runs: by them a write that is to be silent reaches the observer.
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
        // One that has been told something did its work, and went with what it was for.
        if state.wasCalled { return }
        Logger(label: "stillingwell").warning(
            """
            a notification token made at \(place) was dropped without invalidate(), and its callback was never called: it has \
            stopped; keep the token
            """
        )
    }

    /// Ends the subscription. Any thread, inside the callback too, any number of times. Once it has returned no callback
    /// starts; it does not wait for one that is running.
    public func invalidate() { if state.invalidate() { remove() } }
}
