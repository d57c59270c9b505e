// A conjunction compiled for testing many rows. Comparisons of integers and Booleans, other tests of columns, and
// combined conditions are kept apart, because traversing expressions retains objects, which costs more than comparing.
// Immutable; any thread.

struct RowTest: Sendable {
    /// Tests whether a slot lies in the `span` from `low` on, or outside if inverted. Each comparison of an integer has
    /// this form, which needs no branch.
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

        /// Comparison of a Bool column, in which every non-zero slot is true.
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

        /// Intersects this comparison with another, if both are intervals of one column.
        /// - Returns: false, with nothing changed, if they are not.
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

    /// The only condition, if it is one comparison. The usual case, and three times as fast as an array of one.
    private var sole: Comparing?
    private var integers: [Comparing] = []
    private var columns: [Testing] = []
    /// Remaining conditions, or nil.
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
                columns.append(Testing(column: column, test: test.prepared, isOptional: isOptional))
            case .all, .none, .identity, .aggregate, .node: others.append(condition)
            }
        }
        self.others = others.isEmpty ? nil : FilterProgram(.and(others))
        if integers.count == 1, columns.isEmpty, others.isEmpty { sole = integers[0] }
    }

    /// Adds a comparison, merged with one of the same column if possible.
    private static func add(_ new: Comparing, to asked: inout [Comparing]) {
        for index in asked.indices where asked[index].take(alsoOf: new) { return }
        asked.append(new)
    }

    /// Whether there are no conditions.
    var isEmpty: Bool { integers.isEmpty && columns.isEmpty && others == nil }

    /// Number of rows that pass.
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

    /// Number of rows of a page that pass, or nil if they have to be tested one by one.
    func count(_ page: MappedPage, _ source: Snapshot) -> Int? {
        if let sole {
            var count = 0
            return page.forEachPlainRow({ base, _ in count &+= sole.passes(base) ? 1 : 0 }) ? count : nil
        }
        if let (column, set, isOptional) = soleSet {
            if let value = set.onlyBytes {
                return value.withUnsafeBytes {
                    Self.count(page, only: $0, column, isOptional: isOptional, source.unretained)
                }
            }
            return Self.count(page, set, column, isOptional: isOptional, source.unretained)
        }
        guard let (column, pattern, isOptional) = soleText else { return nil }
        guard pattern.match == .contains, !pattern.foldsCase else {
            return Self.count(page, pattern, column, isOptional: isOptional, source.unretained)
        }
        return pattern.bytes.withUnsafeBytes {
            Self.count(page, ByteSearch($0), column, isOptional: isOptional, source.unretained)
        }
    }

    /// Number of rows of a page whose column contains a text. Not inlined, so that the loop keeps its registers.
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

    /// Number of rows of a page whose column matches a text condition.
    @inline(never)
    private static func count(
        _ page: MappedPage, _ pattern: TextPattern, _ column: Int, isOptional: Bool, _ values: UnsafeRawPointer
    ) -> Int? {
        var count = 0
        let isPlain = page.forEachPlainRow { base, byteCount in
            let row = RowReader(unchecked: base, byteCount, values)
            if isOptional, row.isNull(column) { return }
            count &+= pattern.matches(row.bytes(column)) ? 1 : 0
        }
        return isPlain ? count : nil
    }

    /// Number of rows of a page whose column has one of some values.
    @inline(never)
    private static func count(
        _ page: MappedPage, _ set: ValueSet, _ column: Int, isOptional: Bool, _ values: UnsafeRawPointer
    ) -> Int? {
        var count = 0
        let isPlain = page.forEachPlainRow { base, byteCount in
            let row = RowReader(unchecked: base, byteCount, values)
            count &+= set.contains(row, column, isOptional: isOptional) ? 1 : 0
        }
        return isPlain ? count : nil
    }

    /// Number of rows of a page whose column has a value of type `String` or `Data`.
    @inline(never)
    private static func count(
        _ page: MappedPage, only value: UnsafeRawBufferPointer, _ column: Int, isOptional: Bool,
        _ values: UnsafeRawPointer
    ) -> Int? {
        var count = 0
        let byteCount = UInt64(value.count)
        let isPlain = page.forEachPlainRow { base, rowBytes in
            let slot = RowReader.slot(column, at: base)
            // Most values have another length, which the slot tells unless the value is large.
            guard slot >> 32 == byteCount || slot & LargeValue.mark != 0 else { return }
            let row = RowReader(unchecked: base, rowBytes, values)
            if isOptional, row.isNull(column) { return }
            count &+= ByteEquality.isEqual(row.bytes(column), value) ? 1 : 0
        }
        return isPlain ? count : nil
    }

    /// The only condition, if it is a set of values.
    private var soleSet: (column: Int, set: ValueSet, isOptional: Bool)? {
        guard columns.count == 1, integers.isEmpty, others == nil, case .oneOf(let set) = columns[0].test else {
            return nil
        }
        return (columns[0].column, set, columns[0].isOptional)
    }

    /// The only condition, if it is a text pattern.
    private var soleText: (column: Int, pattern: TextPattern, isOptional: Bool)? {
        guard columns.count == 1, integers.isEmpty, others == nil, case .text(let pattern) = columns[0].test else {
            return nil
        }
        return (columns[0].column, pattern, columns[0].isOptional)
    }

    /// - Parameter source: source of other rows that the conditions read.
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
