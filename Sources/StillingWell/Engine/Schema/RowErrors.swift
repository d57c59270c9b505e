// Errors of rows and other entries, which name tables and columns as the schema does.

extension EngineFailure {
    /// - Parameter table: returns the schema of a table, or nil if it is not known.
    func error(_ operation: String, path: String, table schema: (UInt32) -> TableSchema?) -> StoreError {
        if code != 0 { return LMDB.error(code, operation, path: path) }
        let table = schema(table)
        let what =
            switch place {
            case .row: "the row of object \(id)"
            case .key: "an entry of the primary keys"
            case .index: "an entry of the index of \(Self.column(Int(id), of: table))"
            case .log: "what is listed of version \(id)"
            case .list: "the order of the list of object \(id)"
            case .value: "the large value \(id), which verify() tells the object of,"
            }
        return .damaged(
            path: path, table: [.log, .value].contains(place) ? nil : table?.name ?? "table \(self.table)",
            object: place == .row ? ObjectID(rawValue: id) : nil, what: what)
    }

    private static func column(_ column: Int, of table: TableSchema?) -> String {
        guard let table, table.columns.indices.contains(column) else { return "column \(column)" }
        return "'\(table.columns[column].name)'"
    }
}

extension RowBuffer {
    /// Error if the row cannot be stored, or nil.
    func error(_ table: TableSchema) -> StoreError? {
        refusedBytes == 0
            ? nil : .valueTooLong(table: table.name, bytes: refusedBytes, limit: LargeValue.mostBytes)
    }
}
