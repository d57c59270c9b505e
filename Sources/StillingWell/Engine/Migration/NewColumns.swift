// What rows from before a property have for it: what it begins with in a new object. They are written again when a store is
// opened whose models have the property for the first time, so that nothing that reads or compares has to know of it. What
// begins with zero, or with nothing, costs nothing: rows that are too short read so. On the opening thread.

/// The properties that a table of the file has got, and that begin with something else than zero.
struct NewColumns {
    let table: TableSchema
    /// Rows of up to so many columns are from before.
    private let first: Int
    private let columns: [(column: Int, ordinal: Int)]
    private let makeRow: (RowBuffer) -> Void

    /// - Parameter first: how many columns the table had.
    /// - Returns: nil where no row has to be written.
    init?(of model: ModelDeclaration, in table: TableSchema, from first: Int) {
        guard table.columns.count > first else { return nil }
        let (sample, empty) = (RowBuffer(), RowBuffer())
        model.makeRow(sample)
        empty.reset(columnCount: 0)
        columns = model.columns.enumerated().compactMap { ordinal, declared in
            guard let column = table.columns.lastIndex(where: { $0.name == declared.name }), column >= first,
                sample.reader.value(ordinal, declared) != empty.reader.value(ordinal, declared)
            else { return nil }
            return (column, ordinal)
        }
        if columns.isEmpty { return nil }
        self.table = table
        self.first = first
        makeRow = model.makeRow
    }

    /// Why no other process may have the store open.
    var reason: String { "'\(table.name).\(table.columns[columns[0].column].name)' is new, with a value to begin with" }

    /// A row from before with all columns; nil for another one. Each has the values of an object of its own.
    /// - Parameter source: who has its values that lie apart.
    func filled(_ bytes: [UInt8], _ source: UnsafeRawPointer?) -> RowBuffer? {
        let count = bytes.withUnsafeBytes { RowReader($0).columnCount }
        guard count <= first else { return nil }
        let (row, new) = (RowBuffer(bytes, source, widenedTo: table), RowBuffer())
        makeRow(new)
        for (column, ordinal) in columns {
            row.set(column, from: new.reader, ordinal, isOutOfLine: table.columns[column].type.isOutOfLine)
        }
        return row
    }
}

extension RowBuffer {
    /// A copy, with further columns where the table has got some.
    /// - Parameter source: who has its values that lie apart.
    convenience init(_ bytes: [UInt8], _ source: UnsafeRawPointer? = nil, widenedTo table: TableSchema? = nil) {
        self.init()
        bytes.withUnsafeBytes {
            load(RowReader($0, source), columnCount: table?.columns.count ?? 0, outOfLine: table?.outOfLine ?? [])
        }
    }
}
