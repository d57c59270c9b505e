// What keeps a sink attached to LiveStore: to results, to a list, or to a publisher with operators behind it. Each is used
// on its site, as the connection demands, but for `cancel`.
import LiveStore
import LiveStoreCombine
import OpenCombine
import StoreDriver

final class LiveStoreSubscription<Row: DrivenRow>: DriverSubscription {
    /// The site's own.
    nonisolated(unsafe) private let results: Results<Row>
    private let token: NotificationToken

    init(_ results: Results<Row>, _ sink: any DeliverySink) throws {
        self.results = results
        token = try results.observe { sink.take($0) }
    }

    func cancel() { token.invalidate() }

    func currentItems() throws -> [Item] { results.map(\.item) }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        for index in indices.clamped(to: results.indices) { body(results[index].item) }
    }
}

final class LiveStoreListSubscription: DriverSubscription {
    /// The site's own.
    nonisolated(unsafe) private let list: List<ItemRow>
    private let token: NotificationToken

    init(_ list: List<ItemRow>, _ connection: Connection, _ sink: any DeliverySink) throws {
        self.list = list
        token = try list.observe { change in
            switch change {
            case .initial(let list): sink.deliver(Delivery(connection, list.count, nil))
            case .update(let list, let changes): sink.deliver(Delivery(connection, list.count, changes))
            case .error(let error): sink.fail(error)
            }
        }
    }

    func cancel() { token.invalidate() }

    func currentItems() throws -> [Item] { list.map(\.item) }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        for index in indices.clamped(to: list.indices) { body(list[index].item) }
    }
}

/// As an application with a reactive layer has it: a change passes through operators, each of them typed away, on its way.
final class PublishedSubscription<Row: DrivenRow>: DriverSubscription {
    /// The site's own.
    nonisolated(unsafe) private let results: Results<Row>
    private let sink: CancellableSink
    /// Cancels on any thread, as every subscription of a `LivePublisher` does.
    nonisolated(unsafe) private let cancellable: AnyCancellable

    init(_ results: Results<Row>, _ operators: Int, _ sink: any DeliverySink) throws {
        self.results = results
        let sink = CancellableSink(sink)
        self.sink = sink
        var publisher = AnyPublisher(results.changePublisher())
        for _ in 0..<operators { publisher = AnyPublisher(publisher.map { $0 }) }
        cancellable = publisher.sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { sink.fail(error) }
            },
            receiveValue: { sink.take($0) })
    }

    func cancel() {
        sink.cancel()
        cancellable.cancel()
    }

    func currentItems() throws -> [Item] { results.map(\.item) }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        for index in indices.clamped(to: results.indices) { body(results[index].item) }
    }
}

extension DeliverySink {
    fileprivate func take<Row: DrivenRow>(_ change: ResultsChange<Row>) {
        switch change {
        case .initial(let results): deliver(Delivery(results.connection, results.count, nil))
        case .update(let results, let changes): deliver(Delivery(results.connection, results.count, changes))
        case .error(let error): fail(error)
        }
    }
}

extension Delivery {
    /// - Parameter changes: nil for the first.
    fileprivate init(_ connection: Connection, _ count: Int, _ changes: ChangeSet?) {
        self.init(
            version: Int64(connection.version), isInitial: changes == nil, count: count,
            deletions: changes?.deletions ?? [], insertions: changes?.insertions ?? [],
            modifications: changes?.modificationsNew ?? [], moveCount: changes?.moves.count ?? 0)
    }
}
