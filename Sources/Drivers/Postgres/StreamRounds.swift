// The work of a watcher that receives every commit. It keeps a copy of the table and the ordered rows of each query,
// and posts changes to the delivery contexts. After a lost connection it makes a new one with a new slot and copy; the
// differences of the copy are the missed changes.
import StillingWellBasis
import TidegaugeDriver

/// Used on the thread of the watcher, after `init`.
final class StreamRounds: WatcherRounds {
    private struct Live {
        var view: OrderedView
        var watchers: [WatchedQuery]
    }

    private let schema: PostgresSchema
    private let stream: ShownStream
    private let bell: Bell
    /// Nil before the first query, and after it was lost.
    private var feed: ReplicationFeed?
    private var patience = Patience()
    private var waiting: [WatchedQuery] = []

    // The maintained rows and queries.
    private var rows: [Int64: AgedItem] = [:]
    private var nextAge: UInt64 = 0
    private var live: [Live] = []
    private var numbers: [Query: Int] = [:]
    private var index = PredicateIndex([])
    /// The delivery contexts of all queries so far.
    private var sites: [ObjectIdentifier: PostgresSite] = [:]

    // Changes since the last post.
    private var transaction: (number: UInt32, changes: [StreamedChange]) = (0, [])
    /// The former state of changed rows.
    private var before: [Int64: AgedItem?] = [:]
    /// Token of the last position that the rows include.
    private var token: Int64 = 0

    init(_ schema: PostgresSchema, _ stream: ShownStream, _ bell: Bell) {
        (self.schema, self.stream, self.bell) = (schema, stream, bell)
    }

    func run(_ orders: () -> [WatchedQuery]?) {
        while let new = orders() {
            waiting += new
            var hasCome = false
            do {
                let feed = try self.feed ?? connect()
                patience.found()
                if let feed {
                    begin()
                    hasCome = try feed.take(apply)
                    post()
                    try feed.answer(MonotonicClock.nowNs())
                }
            } catch let error as PostgresError where error.isConnectionLost && patience.goesOn(MonotonicClock.nowNs()) {
                (feed, transaction.changes) = (nil, [])
                bell.wait(orFor: -1, timeoutMs: Patience.retryEveryMs)
                continue
            } catch {
                for one in live.flatMap(\.watchers) + waiting { one.fail(error) }
                return refuse(orders, bell, error)
            }
            // After messages, more may have come meanwhile: they are read before the next wait.
            if !hasCome {
                bell.wait(orFor: feed?.socket ?? -1, timeoutMs: feed == nil ? -1 : PostgresWay.answerEveryMs)
            }
        }
    }

    /// Makes the slot, then the copy at its beginning, then reads later changes, so none is missed or received twice.
    /// - Returns: nil while there are no queries.
    private func connect() throws -> ReplicationFeed? {
        if waiting.isEmpty, live.isEmpty { return nil }
        let new = try ReplicationFeed(schema)
        let (snapshot, items) = try new.copy(over: try schema.connect())
        try new.start()
        token = stream.begin(at: snapshot)
        replace(by: items)
        post()
        feed = new
        return new
    }

    // MARK: Rows

    private func replace(by items: [Item]) {
        let gone = Set(rows.keys).subtracting(items.map(\.key))
        for key in gone { set(key, nil) }
        for item in items where rows[item.key]?.item != item { set(item.key, item) }
    }

    private func set(_ key: Int64, _ item: Item?) {
        let old = rows[key]
        if before[key] == nil { before.updateValue(old, forKey: key) }
        rows[key] = item.map { item in
            if let old { return AgedItem(item: item, age: old.age) }
            nextAge += 1
            return AgedItem(item: item, age: nextAge)
        }
    }

    /// Applies a transaction as a whole when its commit has come.
    private func apply(_ change: StreamedChange) {
        switch change {
        case .begin(let number): transaction = (number, [])
        case .write, .delete, .truncate: transaction.changes.append(change)
        case .nothing: break
        case .commit(_, let end):
            for change in transaction.changes { make(change) }
            token = stream.add(transaction.number, end: end)
            transaction.changes = []
        }
    }

    private func make(_ change: StreamedChange) {
        switch change {
        case .write(let item, let replaced):
            if let replaced { set(replaced, nil) }
            set(item.key, item)
        case .delete(let key): set(key, nil)
        case .truncate: for key in Array(rows.keys) { set(key, nil) }
        case .begin, .commit, .nothing: break
        }
    }

    // MARK: Queries

    /// Posts the rows of queries for the first time. New queries are evaluated over all rows.
    private func begin() {
        guard !waiting.isEmpty else { return }
        forgetUnwatched()
        let new = Array(Set(waiting.lazy.map(\.query).filter { self.numbers[$0] == nil }))
        if !new.isEmpty {
            let found = PredicateIndex(new)
            var matches = Array(repeating: [AgedItem](), count: new.count)
            for row in rows.values {
                found.forEachMatch(key: row.item.key, group: row.item.group, score: row.item.score) {
                    matches[$0].append(row)
                }
            }
            for (query, rows) in zip(new, matches) {
                numbers[query] = live.count
                live.append(Live(view: OrderedView(query, rows), watchers: []))
            }
            index = PredicateIndex(live.map(\.view.query))
        }
        for watched in waiting {
            guard let number = numbers[watched.query] else { continue }
            live[number].watchers.append(watched)
            sites[ObjectIdentifier(watched.site)] = watched.site
            watched.site.post([(watched, .kept(live[number].view))], token, isRound: false)
        }
        waiting = []
    }

    private func forgetUnwatched() {
        for number in live.indices { live[number].watchers.removeAll(where: \.isCancelled) }
        guard live.contains(where: \.watchers.isEmpty) else { return }
        live.removeAll(where: \.watchers.isEmpty)
        numbers = Dictionary(uniqueKeysWithValues: live.enumerated().map { ($1.view.query, $0) })
        index = PredicateIndex(live.map(\.view.query))
    }

    /// Updates the queries from the changed rows, and posts the affected ones to their delivery contexts.
    private func post() {
        guard !before.isEmpty else { return }
        var steps: [Int: [OrderedView.Step]] = [:]
        for (key, old) in before {
            let new = rows[key]
            var concerned: Set<Int> = []
            for row in [old, new].compactMap({ $0 }) {
                index.forEachMatch(key: key, group: row.item.group, score: row.item.score) { concerned.insert($0) }
            }
            for number in concerned { steps[number, default: []].append((old, new)) }
        }
        before.removeAll(keepingCapacity: true)
        var mail: [ObjectIdentifier: [(WatchedQuery, QueryRows)]] = [:]
        for (number, steps) in steps {
            live[number].view.apply(steps)
            for watched in live[number].watchers {
                mail[ObjectIdentifier(watched.site), default: []].append((watched, .kept(live[number].view)))
            }
        }
        for (place, site) in sites { site.post(mail[place] ?? [], token, isRound: true) }
    }
}
