// Subscriptions that attach a sink to StillingWell: to results, to a list, or to a publisher with operators.
import OpenCombine
import StillingWell
import StillingWellCombine
import StillingWellSync
import TidegaugeDriver

/// An observation of rows. Used on their delivery context, as the connection requires, except for `cancel`.
final class StillingWellSubscription<Rows: RandomAccessCollection>: AnsweringSubscription
where Rows.Element: DrivenRow, Rows.Index == Int {
    private let rows: DeliveryBound<Rows>
    private let ask: DeliveryBound<(ReadQuestion) throws -> ReadAnswer>
    private let end: @Sendable () -> Void

    /// - Parameters:
    ///   - ask: answers questions on the delivery context.
    ///   - end: ends the observation; called on any thread.
    init(_ rows: Rows, answer ask: @escaping (ReadQuestion) throws -> ReadAnswer, end: @escaping @Sendable () -> Void) {
        self.rows = DeliveryBound(here: rows)
        self.ask = DeliveryBound(here: ask)
        self.end = end
    }

    func cancel() { end() }

    func answer(_ question: ReadQuestion) throws -> ReadAnswer { try ask.value(question) }

    func currentItems() throws -> [Item] { rows.value.map(\.item) }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        let rows = rows.value
        for index in indices.clamped(to: rows.startIndex..<rows.endIndex) { body(rows[index].item) }
    }
}

extension Results where Object: DrivenRow {
    /// - Parameters:
    ///   - query: the query of these results.
    ///   - operators: number of type-erased `map` operators that a change passes through.
    func subscribe(_ sink: any DeliverySink, to query: Query, operators: Int) throws -> any AnsweringSubscription {
        guard operators > 0 else {
            let token = try observe { sink.take($0) }
            return StillingWellSubscription(self, answer: answers(to: query)) { token.invalidate() }
        }
        let sink = CancellableSink(sink)
        let publisher = AnyPublisher(changePublisher()).passed(through: operators)
        // Cancels on any thread, as every subscription of a `LivePublisher` does.
        nonisolated(unsafe) let cancellable = publisher.sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { sink.fail(error) }
            },
            receiveValue: { sink.take($0) })
        return StillingWellSubscription(self, answer: answers(to: query)) {
            sink.cancel()
            cancellable.cancel()
        }
    }
}

extension AnyPublisher {
    /// Returns this publisher behind type-erased operators that change nothing. Generic over the output, because in an
    /// extension of `Results` each value would cost a look-up of its type.
    @inline(never)
    fileprivate func passed(through operators: Int) -> Self {
        var publisher = self
        for _ in 0..<operators { publisher = AnyPublisher(publisher.map { $0 }) }
        return publisher
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
    /// - Parameter changes: nil for the initial delivery.
    init(_ connection: Connection, _ count: Int, _ changes: ChangeSet?) {
        self.init(
            version: Int64(connection.version), isInitial: changes == nil, count: count,
            deletions: changes?.deletions ?? [], insertions: changes?.insertions ?? [],
            modifications: changes?.modificationsNew ?? [], moveCount: changes?.moves.count ?? 0)
    }
}
