// What a store keeps for each site that observes: a connection, a signal, those who subscribed there. Nothing is called under
// the lock, and what is taken out is released without it.
import Foundation
import StillingWellSync

/// One value per site. Any thread, but where it says otherwise.
public final class SiteMap<Value>: Sendable {
    // Unchecked because a value belongs to its site, which alone asks for it; others list values, and let go of them.
    private struct Kept: @unchecked Sendable { let value: Value }

    private let values: Guarded<[ObjectIdentifier: Kept]>

    /// - Parameter name: of its lock, in reports of waits.
    public init(_ name: String) { values = Guarded(name, [:]) }

    /// The site's value, made when it is asked for first. On the site, so that nobody else makes it meanwhile.
    public func value(at site: DeliverySite, make: () throws -> Value) rethrows -> Value {
        let key = site.identity
        if let known = values.withLock({ $0[key] }) { return known.value }
        let new = Kept(value: try make())
        values.withLock { $0[key] = new }
        return new.value
    }

    public var all: [Value] { values.withLock { Array($0.values) }.map(\.value) }

    /// On the site.
    public func remove(_ site: DeliverySite) -> Value? {
        let key = site.identity
        return values.withLock { $0.removeValue(forKey: key) }?.value
    }

    public func removeAll() -> [Value] { values.replace(with: [:]).values.map(\.value) }
}

extension Guarded where State: Sendable {
    /// - Returns: what it was until then, to be used, and released, without the lock.
    package func replace(with new: State) -> State {
        withLock { state in
            defer { state = new }
            return state
        }
    }
}

extension DeliverySite {
    /// What tells this site from others: the queue, or the run loop of the calling thread. On the site.
    public var identity: ObjectIdentifier {
        switch self {
        case .runLoop: ObjectIdentifier(RunLoop.current)
        case .queue(let queue): ObjectIdentifier(queue)
        }
    }
}
