// The queries, objects and store observers of one connection. On the connection's scheduler.

struct ConnectionObservers {
    /// Those that upkeep keeps.
    private var queries: [ObjectIdentifier: ConnectionQuery] = [:]
    private var objects: [ObjectIdentifier: ObjectToken] = [:]
    private(set) var store: [StoreToken] = []

    // MARK: Queries

    mutating func attach(_ query: ConnectionQuery) { queries[ObjectIdentifier(query)] = query }

    mutating func detach(_ query: ConnectionQuery) { queries[ObjectIdentifier(query)] = nil }

    var attachedQueries: [ConnectionQuery] { Array(queries.values) }

    // MARK: Objects

    mutating func add(_ token: ObjectToken) { objects[ObjectIdentifier(token)] = token }

    /// - Returns: whether it was there.
    mutating func remove(_ token: ObjectToken) -> Bool { objects.removeValue(forKey: ObjectIdentifier(token)) != nil }

    var watchedObjects: [ObjectToken] { Array(objects.values) }

    // MARK: The store

    /// - Returns: whether it is the first.
    mutating func add(_ token: StoreToken) -> Bool {
        store.append(token)
        return store.count == 1
    }

    /// Takes out those that were invalidated. Their callbacks are the caller's to release: what user code they hold may
    /// come back here.
    mutating func takeInvalidStore() -> [StoreToken] {
        defer { store.removeAll { !$0.isActive } }
        return store.filter { !$0.isActive }
    }
}
