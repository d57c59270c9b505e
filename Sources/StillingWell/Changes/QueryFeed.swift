// Pull subscriptions of results, lists and sections. On the connection's scheduler.

struct QueryNews {
    let changes: ChangeSet
    let from: RankedTree
    let to: RankedTree
}

extension Feed {
    /// Makes a feed of a query's changes.
    /// - Parameters:
    ///   - place: source location of the subscription, for warnings.
    ///   - makeOutput: makes an element; given nil for the initial one.
    convenience init(
        _ connection: Connection, _ query: ConnectionQuery, madeAt place: String,
        _ makeOutput: @escaping (QueryNews?) -> Output
    ) {
        // The observer, whose `reported` is the tree of rows taken last. The token retains it while the feed exists.
        weak var observer: CollectionToken?
        var hasTaken = false
        // Changes of the last callback. Used if nothing has come since.
        var known: QueryNews?
        let take = { () -> Output? in
            guard let observer, observer.isBehind, let delivered = query.delivered else { return nil }
            let reported = observer.reported
            observer.reported = delivered
            observer.isBehind = false
            let news = known.take()
            guard hasTaken, let reported else {
                hasTaken = true
                return makeOutput(nil)
            }
            if let news, news.from.isIdentical(to: reported), news.to.isIdentical(to: delivered) {
                return makeOutput(news)
            }
            let changes = ChangeSet.between(reported, delivered, in: query.window)
            return changes.isEmpty ? nil : makeOutput(QueryNews(changes: changes, from: reported, to: delivered))
        }
        self.init(connection, take: take) { feed in
            let token = try connection.observe(query, madeAt: place) { [weak feed] change in
                guard let feed else { return }
                switch change {
                case .initial: known = nil
                case .update(let made, let to):
                    known = QueryNews(changes: made.changes, from: made.from, to: to)
                    observer?.reported = made.from
                case .failed(let error): return feed.end(error)
                }
                observer?.isBehind = true
                feed.tellChanged()
            }
            observer = token.state as? CollectionToken
            return token
        }
    }
}

extension Results {
    package func makeFeed(keyPaths: [PartialKeyPath<Object>]?) -> Feed<ResultsChange<Object>> {
        Feed(connection, keyPaths.map(observed(by:)) ?? query, madeAt: "a publisher of results") { [self] news in
            news.map { .update(self, $0.changes) } ?? .initial(self)
        }
    }
}

extension SectionedQuery {
    /// - Parameter makeOutput: makes an element; given nil for the initial one.
    package func makeFeed<Output>(
        keyPaths: [PartialKeyPath<Object>]?, _ makeOutput: @escaping (SectionedChangeSet?) -> Output
    ) -> Feed<Output> {
        let observed = observed(by: keyPaths)
        let window = observed.window
        return Feed(connection, observed, madeAt: "a publisher of sections") { news in
            makeOutput(
                news.map {
                    SectionedChangeSet(
                        $0.changes, from: SectionedRows($0.from, window), to: SectionedRows($0.to, window))
                })
        }
    }
}

extension List {
    /// - Throws: `notStored`.
    package func makeFeed() throws -> Feed<ListChange<Element>> {
        let (connection, query) = try observed()
        return Feed(connection, query, madeAt: "a publisher of a list") { news in
            news.map { .update(self, $0.changes) } ?? .initial(self)
        }
    }
}
