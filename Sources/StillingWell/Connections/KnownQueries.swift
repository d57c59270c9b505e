// Keeps at most one instance of each query per connection, while anything holds it. On the connection's scheduler.

/// The queries of a connection that results or observers hold.
struct KnownQueries {
    private var queries: [QueryPlan: WeakQuery] = [:]
    private var countToPrune = 64
    var isEmpty: Bool { queries.isEmpty }

    func known(_ plan: @autoclosure () -> QueryPlan) -> ConnectionQuery? { isEmpty ? nil : queries[plan()]?.query }

    func forEach(_ body: (ConnectionQuery) -> Void) {
        for known in queries.values { if let query = known.query { body(query) } }
    }

    mutating func query(_ plan: QueryPlan, _ make: () -> ConnectionQuery) -> ConnectionQuery {
        if let known = queries[plan]?.query { return known }
        let query = make()
        queries[plan] = WeakQuery(query: query)
        if queries.count > countToPrune {
            queries = queries.filter { $0.value.query != nil }
            countToPrune = 2 * queries.count + 64
        }
        return query
    }
}
