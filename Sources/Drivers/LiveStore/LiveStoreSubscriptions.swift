// What keeps a sink attached to LiveStore: to results, to a list, or to a publisher with operators behind it. Each is used
// on its site, as the connection demands, but for `cancel`.
import LiveStore
import LiveStoreCombine
import OpenCombine
import StoreDriver

final class LiveStoreSubscription<Row: DrivenRow>: DriverSubscription, @unchecked Sendable {
    // Used on the site only, as the connection demands.
    private let results: Results<Row>
    private let token: NotificationToken

    init(_ results: Results<Row>, _ sink: any DeliverySink) throws {
        self.results = results
        token = try results.observe { change in
            switch change {
            case .initial(let results):
                sink.deliver(
                    Delivery(version: Int64(results.connection.version), isInitial: true, count: results.count))
            case .update(let results, let changes):
                sink.deliver(
                    Delivery(
                        version: Int64(results.connection.version), isInitial: false, count: results.count,
                        deletions: changes.deletions, insertions: changes.insertions,
                        modifications: changes.modificationsNew, moveCount: changes.moves.count))
            case .error(let error): sink.fail(error)
            }
        }
    }

    func cancel() { token.invalidate() }

    func currentItems() throws -> [Item] { results.map(\.item) }
}

final class LiveStoreListSubscription: DriverSubscription, @unchecked Sendable {
    private let list: List<ItemRow>
    private let token: NotificationToken

    init(_ list: List<ItemRow>, _ connection: Connection, _ sink: any DeliverySink) throws {
        self.list = list
        token = try list.observe { change in
            switch change {
            case .initial(let list):
                sink.deliver(Delivery(version: Int64(connection.version), isInitial: true, count: list.count))
            case .update(let list, let changes):
                sink.deliver(
                    Delivery(
                        version: Int64(connection.version), isInitial: false, count: list.count,
                        deletions: changes.deletions,
                        insertions: changes.insertions, modifications: changes.modificationsNew,
                        moveCount: changes.moves.count))
            case .error(let error): sink.fail(error)
            }
        }
    }

    func cancel() { token.invalidate() }

    func currentItems() throws -> [Item] { list.map(\.item) }
}

/// As an application with a reactive layer has it: a change passes through operators, each of them typed away, on its way.
final class PublishedSubscription<Row: DrivenRow>: DriverSubscription, @unchecked Sendable {
    private let results: Results<Row>
    private let sink: CancellableSink
    private var cancellable: AnyCancellable?

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
            receiveValue: { change in
                switch change {
                case .initial(let results):
                    sink.deliver(
                        Delivery(version: Int64(results.connection.version), isInitial: true, count: results.count))
                case .update(let results, let changes):
                    sink.deliver(
                        Delivery(
                            version: Int64(results.connection.version), isInitial: false, count: results.count,
                            deletions: changes.deletions, insertions: changes.insertions,
                            modifications: changes.modificationsNew, moveCount: changes.moves.count))
                case .error(let error): sink.fail(error)
                }
            })
    }

    func cancel() {
        sink.cancel()
        cancellable?.cancel()
    }

    func currentItems() throws -> [Item] { results.map(\.item) }
}
