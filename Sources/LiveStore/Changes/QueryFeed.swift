// The changes of what a query finds, taken when they are asked for: of results, lists and sections. On the connection's
// scheduler.

/// How the rows of a query have become others.
struct QueryNews {
    let changes: ChangeSet
    let from: RankedTree
    let to: RankedTree
}

/// The changes of a query.
package final class QueryFeed<Output>: Feed<Output>, @unchecked Sendable {
    private let query: ConnectionQuery
    private let place: String
    private let observing: Connection
    private let makeOutput: (QueryNews?) -> Output
    /// Its `reported` is what was taken last.
    private var observer: CollectionToken?
    private var hasTaken = false
    /// What the last call brought: of use as long as nothing has come since.
    private var known: QueryNews?

    /// - Parameters:
    ///   - place: who observes, for warnings.
    ///   - makeOutput: given nil for what there is at first.
    init(
        _ connection: Connection, _ query: ConnectionQuery, madeAt place: String,
        _ makeOutput: @escaping (QueryNews?) -> Output
    ) {
        self.query = query
        self.place = place
        observing = connection
        self.makeOutput = makeOutput
        super.init(connection)
    }

    override func subscribe() throws -> NotificationToken {
        let token = try observing.observe(query, madeAt: place) { [weak self] change in
            guard let self else { return }
            switch change {
            case .initial: known = nil
            case .update(let changes, let from, let to):
                known = QueryNews(changes: changes, from: from, to: to)
                observer?.reported = from
            case .failed(let error): return end(error)
            }
            observer?.isBehind = true
            tellChanged()
        }
        observer = token.state as? CollectionToken
        return token
    }

    package override func take() -> Output? {
        guard let observer, observer.isBehind, let delivered = query.delivered else { return nil }
        let reported = observer.reported
        observer.reported = delivered
        observer.isBehind = false
        let known = known.take()
        guard hasTaken, let reported else {
            hasTaken = true
            return makeOutput(nil)
        }
        if let known, known.from.isIdentical(to: reported), known.to.isIdentical(to: delivered) {
            return makeOutput(known)
        }
        let changes = ChangeSet.between(reported, delivered, in: query.window)
        return changes.isEmpty ? nil : makeOutput(QueryNews(changes: changes, from: reported, to: delivered))
    }
}

extension Results {
    /// For targets of this package that offer changes in other forms.
    package func makeFeed(keyPaths: [PartialKeyPath<Object>]?) -> Feed<ResultsChange<Object>> {
        QueryFeed(connection, keyPaths.map(observed(by:)) ?? query, madeAt: "a publisher of results") { [self] news in
            news.map { .update(self, $0.changes) } ?? .initial(self)
        }
    }
}

extension SectionedQuery {
    /// As the sections' own, for whoever does not know their keys.
    package func makeFeed<Output>(
        keyPaths: [PartialKeyPath<Object>]?, _ makeOutput: @escaping (SectionedChangeSet?) -> Output
    ) -> Feed<Output> {
        let observed = observed(by: keyPaths)
        let window = observed.window
        return QueryFeed(connection, observed, madeAt: "a publisher of sections") { news in
            makeOutput(
                news.map {
                    SectionedChangeSet(
                        $0.changes, from: SectionedRows($0.from, window), to: SectionedRows($0.to, window))
                })
        }
    }
}

extension SectionedResults {
    /// For targets of this package that offer changes in other forms.
    /// - Parameter makeOutput: given nil for what there is at first.
    package func makeFeed<Output>(
        keyPaths: [PartialKeyPath<Object>]?, _ makeOutput: @escaping (SectionedChangeSet?) -> Output
    ) -> Feed<Output> {
        asQuery.makeFeed(keyPaths: keyPaths, makeOutput)
    }
}

extension List {
    /// For targets of this package that offer changes in other forms.
    /// - Throws: `notStored`.
    package func makeFeed() throws -> Feed<ListChange<Element>> {
        let (connection, query) = try observed()
        return QueryFeed(connection, query, madeAt: "a publisher of a list") { news in
            news.map { .update(self, $0.changes) } ?? .initial(self)
        }
    }
}
