// Columns whose values a tree can measure, and how they are read from rows.

extension Measures {
    /// Measures of some of a table's columns: numbers and dates, as far as there is room.
    init(columns: UInt64, _ table: TableSchema) {
        var taken: UInt64 = 0
        var doubles: UInt64 = 0
        var optionals: UInt64 = 0
        for (number, column) in table.columns.enumerated() where taken.nonzeroBitCount < Self.most {
            let bit = UInt64(1) << UInt64(number)
            guard columns & bit != 0, column.type.isMeasurable else { continue }
            taken |= bit
            if column.type != .int { doubles |= bit }
            if column.isOptional { optionals |= bit }
        }
        self.init(columns: taken, doubles: doubles, optionals: optionals)
    }

    /// Writes the measured values of a row.
    func write(_ row: RowReader, to words: UnsafeMutablePointer<UInt64>) {
        forEach { column, word, isDouble, isOptional in
            // A row older than the column has the column's zero, or no value if it is optional.
            let isMissing = isOptional && row.isNull(column)
            if isDouble {
                words[word] = isMissing ? Double.nan.bitPattern : row.slot(column)
            } else {
                words[word] = row.slot(column)
                if isOptional { words[word + 1] = isMissing ? 0 : 1 }
            }
        }
    }

    /// Appends the measured values of a row, or zeros if the row could not be read and its source has kept the error.
    func append(_ row: RowReader?, to values: inout [UInt64]) {
        let start = values.count
        for _ in 0..<wordsPerEntry { values.append(0) }
        guard let row else { return }
        values.withUnsafeMutableBufferPointer { write(row, to: $0.baseAddress! + start) }
    }
}

extension ColumnType {
    /// Whether values have a minimum and a maximum that fit into a word: numbers, and dates, which are doubles.
    fileprivate var isMeasurable: Bool { self == .int || self == .double || self == .date }
}

extension TreeForm {
    /// The same rows with other measures, or none.
    func measured(_ tree: RankedTree, _ measures: Measures, _ table: Table, in source: some RowSource) -> RankedTree {
        func measured(_ rows: RankedTree) -> RankedTree {
            rows.measured(measures) { id, words in
                if let row = source.row(table, ObjectID(rawValue: id)) { measures.write(row, to: words) }
            }
        }
        return measured(tree).with(groups: tree.groups.map(measured), sections: tree.sections)
    }
}
