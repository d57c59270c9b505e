// Which columns a tree can know the values of, and how a row's are read.

extension Measures {
    /// The measures of some of a table's columns: of the first that there is room for, of those that are numbers.
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

    /// Writes the words of a row.
    func write(_ row: RowReader, to words: UnsafeMutablePointer<UInt64>) {
        forEach { column, word, isDouble, isOptional in
            // A row older than the column has the zero that its property reads; an optional one has none.
            let isMissing = isOptional && row.isNull(column)
            if isDouble {
                words[word] = isMissing ? Double.nan.bitPattern : row.slot(column)
            } else {
                words[word] = row.slot(column)
                if isOptional { words[word + 1] = isMissing ? 0 : 1 }
            }
        }
    }

    /// Adds the words of a row; zeros for one that could not be read, which its source has kept the reason of.
    func append(_ row: RowReader?, to values: inout [UInt64]) {
        let start = values.count
        for _ in 0..<wordsPerEntry { values.append(0) }
        guard let row else { return }
        values.withUnsafeMutableBufferPointer { write(row, to: $0.baseAddress! + start) }
    }
}

extension ColumnType {
    /// Whether values have a smallest and a largest that fits into a word: numbers, and dates, which are doubles.
    fileprivate var isMeasurable: Bool { self == .int || self == .double || self == .date }
}

extension TreeForm {
    /// The same rows with measures of their columns, or none.
    func measured(_ tree: RankedTree, _ measures: Measures, _ table: Table, in source: some RowSource) -> RankedTree {
        func measured(_ rows: RankedTree) -> RankedTree {
            rows.measured(measures) { id, words in
                if let row = source.row(table, ObjectID(rawValue: id)) { measures.write(row, to: words) }
            }
        }
        return measured(tree).with(groups: tree.groups.map(measured), sections: tree.sections)
    }
}
