// The queries, objects and store observers of one connection. On the connection's scheduler.

struct ConnectionObservers {
    /// Queries that results or observers hold.
    private var queries: [QueryPlan: WeakQuery] = [:]
    private var queriesToPrune = 64
    /// Those of them that upkeep keeps.
    private var attached: [ObjectIdentifier: ConnectionQuery] = [:]
    private var objects: [ObjectIdentifier: ObjectToken] = [:]
    private(set) var store: [StoreToken] = []

    // MARK: Queries

    /// The one instance of a query.
    mutating func query(_ plan: QueryPlan, _ make: () -> ConnectionQuery) -> ConnectionQuery {
        if let known = queries[plan]?.query { return known }
        let query = make()
        queries[plan] = WeakQuery(query: query)
        if queries.count > queriesToPrune {
            queries = queries.filter { $0.value.query != nil }
            queriesToPrune = 2 * queries.count + 64
        }
        return query
    }

    mutating func attach(_ query: ConnectionQuery) { attached[ObjectIdentifier(query)] = query }

    mutating func detach(_ query: ConnectionQuery) { attached[ObjectIdentifier(query)] = nil }

    var attachedQueries: [ConnectionQuery] { Array(attached.values) }

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
