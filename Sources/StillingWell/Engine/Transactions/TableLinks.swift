// Indexes of a table, and the links and lists to and from it. Made while the store is opened, constant afterwards.
import CStillingWellEngine
import CStillingWellLMDB

/// A link or list property, which can be followed in both directions.
struct LinkEdge: Sendable {
    /// Table that has the property.
    let source: UInt32
    let column: Int
    let target: UInt32
    /// Table of the list's elements; nil for a link.
    let elements: UInt32?
    /// Index of what leads to an object: rows of `source` for a link, rows of `elements` for a list.
    let index: ColumnIndex
}

/// A list property of a table.
struct ListColumn: Sendable {
    let column: Int
    /// The table of the elements.
    let elements: UInt32
    /// Order of the elements in each object's list.
    let order: ListOrder
}

final class TableLinks: Sendable {
    let table: UInt32
    let indexes: [ColumnIndex]
    /// Bit i: column i has an index.
    let indexedColumns: UInt64
    /// Links and lists from this table.
    let outgoing: [LinkEdge]
    /// Links and lists from any table to this one.
    let incoming: [LinkEdge]
    let lists: [ListColumn]
    /// Table and column of the list property, if this is a table of list elements.
    let listOwner: (table: UInt32, column: Int)?
    /// Order of the elements, if this is a table of list elements.
    let order: ListOrder?
    /// Target table of each column. Not owned, because tables link in circles. The storage owns them as long as it is
    /// open.
    private let targets: [Unmanaged<Table>?]
    /// Bit i: an index or a list order depends on column i.
    let followedColumns: UInt64

    private init(
        _ table: UInt32, _ indexes: [ColumnIndex], outgoing: [LinkEdge], incoming: [LinkEdge], lists: [ListColumn],
        listOwner: (table: UInt32, column: Int)?, order: ListOrder?, targets: [Unmanaged<Table>?]
    ) {
        self.table = table
        self.targets = targets
        self.indexes = indexes
        indexedColumns = indexes.reduce(0) { $0 | 1 << UInt64($1.column) }
        self.outgoing = outgoing
        self.incoming = incoming
        self.lists = lists
        self.listOwner = listOwner
        self.order = order
        followedColumns = indexedColumns | (order == nil ? 0 : 1 << UInt64(ListTable.position))
    }

    /// Whether objects of the table can refer to others.
    var leadsToObjects: Bool { !outgoing.isEmpty }

    func edge(_ column: Int) -> LinkEdge? { outgoing.first { $0.column == column } }

    /// The table that a link, or a list of links, leads to; nil for another column.
    @inline(__always)
    func target(_ column: Int) -> Unmanaged<Table>? { column < targets.count ? targets[column] : nil }

    func list(_ column: Int) -> ListColumn? { lists.first { $0.column == column } }

    func index(_ column: Int) -> ColumnIndex? { indexes.first { $0.column == column } }

    /// Opens the indexes and list orders of all tables, builds missing ones, and collects the links between tables.
    static func open(
        _ transaction: LMDBTransaction, _ schemas: [TableSchema], _ tables: [UInt32: Table], _ storage: Storage
    ) throws -> [UInt32: TableLinks] {
        let numbers = Dictionary(schemas.map { ($0.name, $0.id) }) { first, _ in first }
        var indexes: [UInt32: [ColumnIndex]] = [:]
        for case let table? in schemas.map({ tables[$0.id] }) {
            indexes[table.id] = try openIndexes(transaction, table, storage)
        }
        // Every link has an index and every list a table, unless the schema is damaged or foreign.
        func found<Part>(_ part: Part?) throws(StoreError) -> Part {
            if let part { return part }
            throw .cannotOpen(
                path: storage.directory, reason: "its schema is not one that was stored; restore it from a backup")
        }
        func index(_ table: UInt32, _ column: Int) throws(StoreError) -> ColumnIndex {
            try found(indexes[table]?.first { $0.column == column })
        }

        var edges: [LinkEdge] = []
        var lists: [UInt32: [ListColumn]] = [:]
        var owners: [UInt32: (table: UInt32, column: Int)] = [:]
        var orders: [UInt32: ListOrder] = [:]
        for schema in schemas {
            for (column, declared) in schema.columns.enumerated() where declared.type == .list {
                let elements = try found(numbers[ListTable.name(schema.name, declared.name)])
                owners[elements] = (schema.id, column)
                let order = try openOrder(transaction, found(tables[elements]), storage)
                orders[elements] = order
                lists[schema.id, default: []].append(ListColumn(column: column, elements: elements, order: order))
            }
        }
        for schema in schemas {
            for (column, declared) in schema.columns.enumerated() {
                // The list of an element is found by the order, which needs no index.
                if owners[schema.id] != nil, column == ListTable.owner { continue }
                guard let target = declared.target.flatMap({ numbers[$0] }) else { continue }
                let elements = lists[schema.id]?.first { $0.column == column }?.elements
                let index =
                    try elements.map { try index($0, ListTable.value) } ?? index(schema.id, column)
                edges.append(
                    LinkEdge(
                        source: schema.id, column: column, target: target, elements: elements, index: index))
            }
        }
        var opened: [UInt32: TableLinks] = [:]
        for schema in schemas {
            let outgoing = edges.filter { $0.source == schema.id }
            let incoming = edges.filter { $0.target == schema.id }
            let own = indexes[schema.id] ?? []
            let lists = lists[schema.id] ?? []
            let order = orders[schema.id]
            if outgoing.isEmpty, incoming.isEmpty, own.isEmpty, lists.isEmpty, order == nil { continue }
            let targets = schema.columns.indices.map { column in
                outgoing.first { $0.column == column }.flatMap { tables[$0.target] }.map {
                    Unmanaged.passUnretained($0)
                }
            }
            opened[schema.id] = TableLinks(
                schema.id, own, outgoing: outgoing, incoming: incoming, lists: lists, listOwner: owners[schema.id],
                order: order, targets: targets)
        }
        return opened
    }

    /// Opens the indexes of a table and builds new ones.
    static func openIndexes(
        _ transaction: LMDBTransaction, _ table: Table, _ storage: Storage
    ) throws -> [ColumnIndex] {
        try table.schema.columns.enumerated().filter { $0.element.isIndexed }.map { column, _ in
            let name = ColumnIndex.name(table.id, column)
            let flags = ColumnIndex.flags
            var handle: MDB_dbi = 0
            var code = engine_open_table(transaction, name, flags, &handle)
            let isNew = code == MDB_NOTFOUND
            if isNew { code = engine_open_table(transaction, name, flags | UInt32(MDB_CREATE), &handle) }
            try storage.check(code, "open \(name)")
            let index = ColumnIndex(of: table.schema, column, handle: handle)
            if isNew { try build(transaction, index, table, storage) }
            return index
        }
    }

    /// Fills a new index from the existing rows.
    private static func build(
        _ transaction: LMDBTransaction, _ index: ColumnIndex, _ table: Table, _ storage: Storage
    ) throws {
        var entries: [(key: [UInt8], id: ObjectID)] = []
        let values = TransactionValues(storage, transaction)
        try storage.reading("build index") { () throws(EngineFailure) in
            try LMDB.scan(transaction, table.rows) { (id, row) throws(EngineFailure) in
                try RowReader.check(row, table.id, id)
                if let key = index.key(RowReader(row, values.unretained)) {
                    entries.append((key, ObjectID(rawValue: id)))
                }
                return true
            }
            try values.check()
        }
        // Keys in ascending order fill the tree from left to right.
        entries.sort { $0.key == $1.key ? $0.id < $1.id : $0.key.lexicographicallyPrecedes($1.key) }
        try storage.reserve(entries.reduce(0) { $0 + 2 * $1.key.count + 64 })
        for entry in entries {
            try storage.check(index.insert(transaction, key: entry.key, entry.id).code, "build index")
        }
    }
}
