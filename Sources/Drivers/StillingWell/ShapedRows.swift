// Rows with text and bytes. In a trial with several tables, each row has a counterpart: a row with the same key in
// another table, which is changed together with it.
import Foundation
import StillingWell
import StillingWellSync
import TidegaugeDriver

/// A row with text and bytes, as in applications.
final class ShapedRow: StoredObject, DrivenRow {
    @Stored(.primaryKey) var key = 0
    @Stored var group = 0
    @Stored var score = 0
    @Stored var stamp = 0
    @Stored var text = ""
    @Stored var payload = Data()

    convenience init(_ item: Item) {
        self.init()
        key = Int(item.key)
        group = Int(item.group)
        score = Int(item.score)
        stamp = Int(item.stamp)
    }

    var item: Item { Item(key: Int64(key), group: Int64(group), score: Int64(score), stamp: Int64(stamp)) }

    static func primaryKey(_ number: Int64) -> Int { Int(number) }
    static var numbers: KeyPath<ShapedRow, Int>? { \ShapedRow.key }
    static var texts: KeyPath<ShapedRow, String>? { \ShapedRow.text }
}

/// The rows of one store if they have text, bytes or counterparts (`RowShape.isPlain` is false).
struct ShapedRows: DrivenRows {
    /// Approximate maximum number of bytes in a transaction of the load.
    private static let loadBytes = 32 << 20

    private let shape: RowShape
    private let rows = RowsOf<ShapedRow, ShapedRow>()
    private let counterparts: [any CounterpartTable]

    init(_ shape: RowShape) throws {
        self.shape = shape
        counterparts = try shape.counterpartTables()
    }

    var models: [StoredObject.Type] { rows.models + counterparts.map(\.model) }

    var loadBatch: Int { max(1, min(rows.loadBatch, Self.loadBytes / max(1, shape.bytesPerRow))) }

    func apply(_ change: Change, _ connection: Connection) throws {
        if change.operation == .insert {
            let row = ShapedRow(change.item)
            row.text = shape.text(of: change.item)
            row.payload = shape.payload(ofKey: change.item.key)
            try connection.add(row)
        } else {
            try ShapedRow.apply(change, connection) { row in
                if change.operation != .delete { row.text = shape.text(of: change.item) }
            }
        }
        if let table = shape.counterpart(of: change.item.key) { try counterparts[table].apply(change, connection) }
    }

    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any AnsweringSubscription {
        ShapedSubscription(
            try rows.subscribe(to: query, connection, configuration, sink), try rows.results(query, connection)
        ) { row in try whole(row, connection) }
    }

    func contents(of query: Query, _ connection: Connection) throws -> [Item] {
        try rows.contents(of: query, connection)
    }

    func pin(_ store: Store) throws -> FrozenRead { try rows.pin(store) }

    func forEachRow(of query: Query, _ connection: Connection, _ body: (WholeRow) -> Void) throws {
        for row in try rows.results(query, connection) { body(try whole(row, connection)) }
    }

    private func whole(_ row: ShapedRow, _ connection: Connection) throws -> WholeRow {
        let item = row.item
        let stamp = try shape.counterpart(of: item.key).flatMap {
            try counterparts[$0].stamp(ofKey: row.key, connection)
        }
        return WholeRow(item, text: row.text, payload: row.payload, counterpartStamp: stamp.map(Int64.init))
    }
}

/// A subscription that shows all columns of its rows. Used on its delivery context, as the connection requires, except
/// for `cancel`.
private final class ShapedSubscription: WholeRowSubscription, AnsweringSubscription {
    private let inner: any AnsweringSubscription
    private let results: DeliveryBound<Results<ShapedRow>>
    private let whole: DeliveryBound<(ShapedRow) throws -> WholeRow>

    /// - Parameter results: results of the query that `inner` observes.
    init(
        _ inner: any AnsweringSubscription, _ results: Results<ShapedRow>,
        whole: @escaping (ShapedRow) throws -> WholeRow
    ) {
        self.inner = inner
        self.results = DeliveryBound(here: results)
        self.whole = DeliveryBound(here: whole)
    }

    func cancel() { inner.cancel() }
    func answer(_ question: ReadQuestion) throws -> ReadAnswer { try inner.answer(question) }
    func currentItems() throws -> [Item] { try inner.currentItems() }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws { try inner.forEachShown(indices, body) }

    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws {
        let (results, whole) = (results.value, whole.value)
        for index in indices.clamped(to: results.startIndex..<results.endIndex) { body(try whole(results[index])) }
    }
}
