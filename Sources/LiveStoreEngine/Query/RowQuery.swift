// A filter asked of rows there and then, for who wants a number, or rows in the order of their ids: no tree is built. Rows
// come from the primary key or an index where one leads to few, else from one scan.

package struct RowQuery {
    private let table: Table
    private let conditions: [FilterExpression]

    package init(_ filter: FilterExpression, _ table: Table) {
        self.table = table
        conditions = filter.normalized.conjuncts
    }

    /// How many rows pass. What cannot be read is kept by the source.
    package func count(in source: any RowSource) -> Int {
        if let count = IndexAccess.count(conditions, table, source) { return count }
        var count = 0
        forEach(in: source) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// So many rows of an order are looked at for each that is wanted.
    private static let patience = 64

    /// The first rows in an order, found by an index; nil where none has it, or it leads past too many that do not pass.
    package func first(_ most: Int, by term: SortTerm, in source: any RowSource) -> [(ObjectID, RowReader)]? {
        let column = table.schema.columns[term.column]
        // Null is in no index, and texts may be cut there.
        guard term.over == nil, !column.isOptional, [.int, .double, .date, .bool].contains(column.type),
            let index = table.index(term.column)
        else { return nil }
        let found = source.reading(or: nil) { (transaction) throws(EngineFailure) -> (ids: [ObjectID], areAll: Bool)? in
            let part = try table.rowCount(transaction) / IndexAccess.smallPart
            let looks = conditions.isEmpty ? most : max(most, min(Self.patience * most, part))
            return looks > max(part, 1) ? nil : try index.first(looks, transaction, ascending: term.ascending)
        }
        guard let found else { return nil }
        let (test, links) = (RowTest(conditions), table.links)
        var rows: [(ObjectID, RowReader)] = []
        for id in found.ids where rows.count < most {
            if let row = source.row(table, id), test.passes(row, id, source, links) { rows.append((id, row)) }
        }
        return rows.count == most || found.areAll ? rows : nil
    }

    /// Visits the rows that pass, ascending by id, until `body` returns false. `body` must not read through the source, nor
    /// change anything. What cannot be read is kept by the source.
    package func forEach(in source: any RowSource, _ body: (ObjectID, RowReader) -> Bool) {
        if conditions.contains(.none) { return }
        let (test, links) = (RowTest(conditions), table.links)
        guard let ids = IndexAccess.candidates(conditions, table, source) else {
            return source.scan(table) { id, row, source in
                test.passes(row, id, source, links) ? body(id, row) : true
            }
        }
        for id in ids {
            guard let row = source.row(table, id), test.passes(row, id, source, links) else { continue }
            if !body(id, row) { return }
        }
    }
}
