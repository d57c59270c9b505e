// Observing the store as a whole.

/// An event for observers of the whole store.
public enum StoreNotification: Sendable, Equatable {
    /// The connection has moved on to a newer version.
    case didChange
    /// A newer version exists and `autorefresh` is off. Call `refresh()`.
    case refreshRequired
}

/// One observer of the store as a whole.
///
/// Unchecked because its callback is used on the connection's scheduler only.
final class StoreToken: TokenState, @unchecked Sendable {
    private var deliver: ((StoreNotification) -> Void)?

    init(_ deliver: @escaping (StoreNotification) -> Void) { self.deliver = deliver }
    func tell(_ notification: StoreNotification) { deliver?(notification) }
    override func releaseCallback() { deliver = nil }
}
