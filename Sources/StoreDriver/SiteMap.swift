// What a store keeps for each site that observes: a connection, a signal, those who subscribed there.
//
// `lock` guards `values`; nothing is called under it, and what is taken out is released without it.
import Foundation
import TracedSync

/// One value per site. Any thread, but where it says otherwise.
public final class SiteMap<Value>: @unchecked Sendable {
    private let lock: TracedMutex
    private var values: [ObjectIdentifier: Value] = [:]

    /// - Parameter name: of its lock, in reports of waits.
    public init(_ name: String) { lock = TracedMutex(name) }

    /// The site's value, made when it is asked for first. On the site, so that nobody else makes it meanwhile.
    public func value(at site: DeliverySite, make: () throws -> Value) rethrows -> Value {
        let key = site.identity
        if let known = lock.withLock({ values[key] }) { return known }
        let new = try make()
        lock.withLock { values[key] = new }
        return new
    }

    public var all: [Value] { lock.withLock { Array(values.values) } }

    /// On the site.
    public func remove(_ site: DeliverySite) -> Value? {
        let key = site.identity
        return lock.withLock { values.removeValue(forKey: key) }
    }

    public func removeAll() -> [Value] {
        lock.withLock {
            defer { values = [:] }
            return Array(values.values)
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
