// A reference to a live object or live results for another connection. Holds no version.
import StillingWellBasis

/// A reference to a live object or live results. `connection.resolve(reference)` returns it live there. Any thread.
///
///     let reference = try ThreadSafeReference(to: note)
///     queue.async { let note = try connection.resolve(reference) }
///
/// May be resolved any number of times. Holds no version of the store, but keeps its file open.
public struct ThreadSafeReference<Confined>: Sendable {
    fileprivate let storage: Storage
    /// Path with which the store was opened.
    fileprivate let path: String
    fileprivate let target: Target

    fileprivate enum Target: Sendable {
        case object(Table, ObjectID, version: UInt64)
        case results(@Sendable (Connection) -> Confined)
    }

    /// Makes a reference to a stored object. On its connection's scheduler.
    /// - Throws: `notStored` for an object that is not stored.
    public init(to object: Confined) throws where Confined: StoredObject {
        guard let binding = object.binding else { throw StoreError.notStored(type: "\(Confined.self)") }
        storage = binding.connection.core.storage
        path = binding.connection.store.configuration.path
        target = .object(binding.table, binding.id, version: binding.connection.versionRead)
    }

    /// Makes a reference to a query. On its connection's scheduler.
    public init<Object>(to results: Results<Object>) where Confined == Results<Object> {
        storage = results.connection.core.storage
        path = results.connection.store.configuration.path
        target = .results(results.remake)
    }
}

extension Connection {
    /// Returns the referenced object on this connection, or nil if it was deleted. On the connection's scheduler.
    ///
    /// If the connection is at an older version than the reference, it reads the newest one from here on.
    /// - Throws: `otherStore`, `closed`, `referenceTooNew`, `tooManySnapshots`; `damaged` or `storage` if the row
    ///   cannot be read.
    public func resolve<Object: StoredObject>(_ reference: ThreadSafeReference<Object>) throws -> Object? {
        guard case .object(let table, let id, let version) = reference.target else { return nil }
        return try resolve(reference.storage, path: reference.path, table, id, version)
    }

    /// Returns the referenced results on this connection, at its version. On the connection's scheduler.
    /// - Throws: `otherStore`, `closed`.
    public func resolve<Object>(_ reference: ThreadSafeReference<Results<Object>>) throws -> Results<Object> {
        try checkResolves(reference.storage, path: reference.path)
        guard case .results(let remake) = reference.target else {
            stopProgram("a reference to results has a query")
        }
        return remake(self)
    }
}
