// Initial values of new properties for existing rows. The rows are written when a store is first opened with models
// that have the properties, so that no other code has to know of them. Properties that begin with zero or empty cost
// nothing, because rows that are too short read so. Used on the opening thread.

/// New properties of a stored table whose initial value is not zero.
struct NewColumns {
    let table: TableSchema
    /// Rows with at most this number of columns are older than the properties.
    private let first: Int
    private let columns: [(column: Int, ordinal: Int)]
    private let makeRow: (RowBuffer) -> Void

    /// - Parameter first: number of columns that the table had.
    /// - Returns: nil if no row has to be written.
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

    /// Reason why no other process may have the store open.
    var reason: String { "'\(table.name).\(table.columns[columns[0].column].name)' is new, with a value to begin with" }

    /// An older row with all columns, or nil if the row is not older. Each row gets the values of a separate new
    /// object.
    /// - Parameter source: the `LargeValueSource` of the row.
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
    /// Makes a copy of a row, with further columns if the table has more.
    /// - Parameter source: the `LargeValueSource` of the row.
    convenience init(_ bytes: [UInt8], _ source: UnsafeRawPointer? = nil, widenedTo table: TableSchema? = nil) {
        self.init()
        bytes.withUnsafeBytes {
            load(RowReader($0, source), columnCount: table?.columns.count ?? 0, outOfLine: table?.outOfLine ?? [])
        }
    }
}
