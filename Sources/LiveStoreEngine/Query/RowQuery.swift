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
