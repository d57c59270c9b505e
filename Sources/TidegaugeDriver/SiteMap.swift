// State that a store keeps per delivery context: a connection, a signal, the subscriptions. No callback runs under the
// lock, and removed values are released outside it.
import Foundation
import StillingWellSync

/// A map with one value per delivery context. Any thread, unless a method says otherwise.
public final class SiteMap<Value>: Sendable {
    // Unchecked because only its delivery context uses a value, except for methods that any thread may call. Other
    // threads also list and release values.
    private struct Kept: @unchecked Sendable { let value: Value }

    private let values: Guarded<[ObjectIdentifier: Kept]>

    /// - Parameter name: name of the lock in reports of waits.
    public init(_ name: String) { values = Guarded(name, [:]) }

    /// Returns the delivery context's value and creates it on first use. On the context, so that no other thread
    /// creates it.
    public func value(at site: DeliverySite, make: () throws -> Value) rethrows -> Value {
        let key = site.identity
        if let known = values.withLock({ $0[key] }) { return known.value }
        let new = Kept(value: try make())
        values.withLock { $0[key] = new }
        return new.value
    }

    public var all: [Value] { values.withLock { Array($0.values) }.map(\.value) }

    /// Removes the delivery context's value and returns it. On the context.
    public func remove(_ site: DeliverySite) -> Value? {
        let key = site.identity
        return values.withLock { $0.removeValue(forKey: key) }?.value
    }

    public func removeAll() -> [Value] { values.replace(with: [:]).values.map(\.value) }
}

extension Guarded where State: Sendable {
    /// - Returns: the previous state, to be used and released outside the lock.
    package func replace(with new: State) -> State {
        withLock { state in
            defer { state = new }
            return state
        }
    }
}

extension DeliverySite {
    /// Identity of the delivery context: its queue, or the run loop of the calling thread. On the context.
    public var identity: ObjectIdentifier {
        switch self {
        case .runLoop: ObjectIdentifier(RunLoop.current)
        case .queue(let queue): ObjectIdentifier(queue)
        }
    }
}
