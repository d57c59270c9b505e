// Conditions that a row must all meet, made ready for asking many rows. Comparisons with integers stand apart from the rest,
// and what is asked of a column from what is made of others: walking through expressions counts references, which costs
// more than comparing does. Immutable; any thread.

struct RowTest: Sendable {
    /// Whether a slot is one of `span` and one from `low` on, or is none of them: every comparison is such a question, which is
    /// asked without a jump.
    private struct Comparing {
        let column: Int
        private var low: UInt64
        private var span: UInt64
        private var isInverted: Bool

        init(_ column: Int, _ comparison: Comparison, _ constant: Int) {
            self.column = column
            (low, span, isInverted) = (0, 0, comparison == .notEqual)
            switch comparison {
            case .equal, .notEqual: take(constant, constant)
            case .lessOrEqual: take(.min, constant)
            case .greaterOrEqual: take(constant, .max)
            case .less: if constant > .min { take(.min, constant - 1) } else { takeNone() }
            case .greater: if constant < .max { take(constant + 1, .max) } else { takeNone() }
            }
        }

        /// Of a column of truths: every slot but 0 is true.
        init(_ column: Int, _ comparison: Comparison, _ constant: Bool) {
            self.column = column
            let (takesFalse, takesTrue) = (
                comparison.admits(0, constant ? 1 : 0), comparison.admits(1, constant ? 1 : 0)
            )
            (low, span, isInverted) = (0, takesFalse == takesTrue ? .max : 0, !takesFalse)
        }

        private mutating func take(_ least: Int, _ most: Int) {
            low = UInt64(bitPattern: Int64(least))
            span = UInt64(bitPattern: Int64(most)) &- low
        }

        private mutating func takeNone() { (low, span, isInverted) = (0, .max, true) }

        /// Asks for both at once, where both are intervals of numbers of one column.
        /// - Returns: false, and nothing changed, where they are not.
        mutating func take(alsoOf other: Comparing) -> Bool {
            guard column == other.column, !isInverted, !other.isInverted else { return false }
            let least = max(Int(bitPattern: UInt(low)), Int(bitPattern: UInt(other.low)))
            let most = min(Int(bitPattern: UInt(low &+ span)), Int(bitPattern: UInt(other.low &+ other.span)))
            if least <= most { take(least, most) } else { takeNone() }
            return true
        }

        @inline(__always)
        func passes(_ row: RowReader) -> Bool { passes(row.base) }

        @inline(__always)
        func passes(_ row: UnsafeRawPointer) -> Bool {
            (RowReader.slot(column, at: row) &- low <= span) != isInverted
        }
    }

    private struct Testing {
        let column: Int
        let test: ColumnTest
        let isOptional: Bool
    }

    /// All that is asked, where that is one comparison: as often, and walking through an array of one takes three times as long.
    private var sole: Comparing?
    private var integers: [Comparing] = []
    private var columns: [Testing] = []
    /// What is left to be asked; nil for nothing.
    private let others: FilterProgram?
    private let needsReach: Bool

    init(_ conditions: some Collection<FilterExpression>) {
        needsReach = conditions.contains(where: \.needsReach)
        var others: [FilterExpression] = []
        for condition in conditions {
            switch condition {
            case .column(let column, .compare(let comparison, .int(let constant)), isOptional: false):
                Self.add(Comparing(column, comparison, constant), to: &integers)
            case .column(let column, .compare(let comparison, .bool(let constant)), isOptional: false):
                integers.append(Comparing(column, comparison, constant))
            case .column(let column, let test, let isOptional):
                columns.append(Testing(column: column, test: test, isOptional: isOptional))
            case .all, .none, .identity, .aggregate, .node: others.append(condition)
            }
        }
        self.others = others.isEmpty ? nil : FilterProgram(.and(others))
        if integers.count == 1, columns.isEmpty, others.isEmpty { sole = integers[0] }
    }

    /// Both ends of a range are one question.
    private static func add(_ new: Comparing, to asked: inout [Comparing]) {
        for index in asked.indices where asked[index].take(alsoOf: new) { return }
        asked.append(new)
    }

    /// Whether every row passes.
    var isEmpty: Bool { integers.isEmpty && columns.isEmpty && others == nil }

    /// How many of some rows pass.
    func count(_ rows: UnsafeBufferPointer<ScannedRow>, _ source: any RowSource, _ links: TableLinks?) -> Int {
        if isEmpty { return rows.count }
        var count = 0
        let values = source.largeValues
        if let sole {
            for found in rows where sole.passes(found.row(values)) { count += 1 }
        } else if let (column, pattern, isOptional) = soleText {
            count = pattern.count(rows.count) { index in
                let row = rows[index].row(values)
                return isOptional && row.isNull(column) ? nil : row.bytes(column)
            }
        } else {
            for found in rows where passes(found.row(values), found.id, source, links) { count += 1 }
        }
        return count
    }

    /// How many rows of a page pass; nil where they have to be asked one by one.
    func count(_ page: MappedPage, _ source: Snapshot) -> Int? {
        if let sole {
            var count = 0
            return page.forEachPlainRow({ base, _ in count &+= sole.passes(base) ? 1 : 0 }) ? count : nil
        }
        guard let (column, pattern, isOptional) = soleText, pattern.match == .contains, !pattern.foldsCase else {
            return nil
        }
        return pattern.bytes.withUnsafeBytes {
            Self.count(page, ByteSearch($0), column, isOptional: isOptional, source.unretained)
        }
    }

    /// How many rows of a page have what is searched for in a column. By itself, which leaves the loop its registers.
    @inline(never)
    private static func count(
        _ page: MappedPage, _ search: ByteSearch, _ column: Int, isOptional: Bool, _ values: UnsafeRawPointer
    ) -> Int? {
        var count = 0
        let isPlain = page.forEachPlainRow { base, byteCount in
            let row = RowReader(unchecked: base, byteCount, values)
            if isOptional, row.isNull(column) { return }
            count &+= search.isIn(row.bytes(column)) ? 1 : 0
        }
        return isPlain ? count : nil
    }

    /// What is searched for, where nothing else is asked.
    private var soleText: (column: Int, pattern: TextPattern, isOptional: Bool)? {
        guard columns.count == 1, integers.isEmpty, others == nil, case .text(let pattern) = columns[0].test else {
            return nil
        }
        return (columns[0].column, pattern, columns[0].isOptional)
    }

    /// - Parameter source: where the other rows are read that the conditions ask about.
    @inline(__always)
    func passes(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> Bool {
        if let sole { return sole.passes(row) }
        for condition in integers where !condition.passes(row) { return false }
        for condition in columns
        where !condition.test.passes(row, condition.column, isOptional: condition.isOptional) { return false }
        guard let others else { return true }
        let reach = needsReach ? source.map { Reach(source: $0, links: links, id: id) } : nil
        return others.matches(row, reach)
    }
}
