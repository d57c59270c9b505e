// Splits a query into a shared tree and its own window. Conditions on the leading sort column become the window's
// bounds where possible, the others the tree's residual filter. So a hundred ranges of one order share one tree.

/// Content of a shared tree: the rows of a table that pass a residual filter, in an order.
struct TreeKey: Sendable, Hashable {
    var table: UInt32
    /// Conditions that must all hold.
    var residual: Set<FilterExpression>
    var sort: [SortTerm]
    /// Columns of which each combination of values is shown once. If empty, all rows are shown.
    var distinct: [Int] = []
    /// Section of the rows, which precedes `sort`.
    var section: SectionTerm?
    var observed = Observed.everything

    /// Whether the filter reads other rows or the row's id, or the order reads linked rows.
    var needsReach: Bool { residual.contains(where: \.needsReach) || sort.contains { $0.over != nil } }

    /// Whether a row may leave and come back without a modification. False if observers are not told of modifications.
    var canTakeBack: Bool {
        if residual.isEmpty || observed == .columns(0) { return false }
        return observed != .everything || needsReach
    }
}

/// Changes of a remaining row that count as modifications.
enum Observed: Sendable, Hashable {
    /// All columns, and objects reached over up to `depth` links.
    case everything
    /// Bit i: column i; and the columns along and at the end of the paths. If both are empty, only rows that come, go
    /// or move are reported.
    case columns(UInt64, over: Set<ColumnPath> = [])

    init(_ paths: [ColumnPath]) {
        self = .columns(
            paths.reduce(0) { $0 | 1 << UInt64($1.columns[0]) }, over: Set(paths.filter { !$0.links.isEmpty }))
    }

    static let depth = 3

    func includes(_ columns: UInt64) -> Bool {
        switch self {
        case .everything: columns != 0
        case .columns(let mask, _): columns & mask != 0
        }
    }
}

struct QueryPlan: Sendable, Hashable {
    private(set) var tree: TreeKey
    /// Bounds of the sort key's bytes, half open; nil is unbounded.
    let lower: [UInt8]?
    let upper: [UInt8]?
    /// Maximum number of shown rows, from the lower bound on.
    let limit: Int?
    /// Section keys at the start of the tree's keys.
    private let sections: SortKeyPrefix?
    /// Error of the query that could not be thrown when it was made. Thrown when the query is used.
    let fault: StoreError?

    init(
        table: Table, filter: FilterExpression, sort: [SortTerm], distinct: [Int] = [], limit: Int? = nil,
        section: SectionTerm? = nil, fault: StoreError? = nil
    ) {
        self.fault = fault
        // A bound would split groups after their first row was chosen, and sections precede the order.
        let isPlain = distinct.isEmpty && section == nil
        var bounds = WindowBounds(leading: isPlain ? sort.first : nil, table.schema)
        let residual = filter.normalized.conjuncts.filter { !bounds.take($0) }
        tree = TreeKey(
            table: table.id, residual: Set(residual), sort: sort, distinct: distinct.sorted(), section: section)
        lower = bounds.lower
        upper = bounds.upper
        self.limit = limit
        sections = section?.layout(table.schema).prefix
    }

    /// The same plan with other changes that count as modifications.
    func observing(_ observed: Observed) -> QueryPlan {
        var plan = self
        plan.tree.observed = observed
        return plan
    }

    /// Columns of the row itself that decide whether it passes the filter.
    var columns: UInt64 {
        let isBounded = lower != nil || upper != nil
        let leading = isBounded ? tree.sort.first.map { UInt64(1) << UInt64($0.ownColumn) } : nil
        return tree.residual.reduce(leading ?? 0) { $0 | $1.ownColumns }
    }

    var window: TreeWindow {
        var window = TreeWindow.all
        window.lower = lower?.withUnsafeBytes { SortKeyBound(bytes: $0) }
        window.upper = upper?.withUnsafeBytes { SortKeyBound(bytes: $0) }
        window.limit = limit
        window.sections = sections
        return window
    }
}

/// Bounds of a window from conditions on the leading sort column, or of an index range from conditions on its column.
struct WindowBounds {
    private(set) var lower: [UInt8]?
    private(set) var upper: [UInt8]?
    private let leading: SortTerm?

    /// Bounds of an index. It has no nulls, and null passes no range condition.
    init(index column: Int) { leading = SortTerm(column: column, ascending: true) }

    init(leading term: SortTerm?, _ table: TableSchema) {
        // Keys of an optional column begin with a mark of null, which bounds lack. So its conditions stay residual
        // filters, like those over links.
        leading = term.flatMap { term in
            term.over != nil || table.columns[term.column].isOptional ? nil : term
        }
    }

    /// Uses the condition as a bound. Returns false if that is not possible.
    mutating func take(_ condition: FilterExpression) -> Bool {
        guard case .column(let column, let test, _) = condition, let leading, column == leading.column else {
            return false
        }
        if let prefix = test.prefix { return take(prefix, ascending: leading.ascending) }
        guard case .compare(let comparison, let value) = test, let range = Self.range(comparison, value) else {
            return false
        }
        let (low, high) = leading.ascending ? (range.from, range.to) : (range.to, range.from)
        if let low, !narrow(low, isLower: true, ascending: leading.ascending) { return false }
        if let high, !narrow(high, isLower: false, ascending: leading.ascending) { return false }
        return true
    }

    /// Uses a case-sensitive prefix as bounds: the keys that begin with its bytes.
    private mutating func take(_ prefix: [UInt8], ascending: Bool) -> Bool {
        if prefix.isEmpty { return false }
        var key = SortKeyBytes()
        key.append(prefix: prefix, ascending: ascending)
        narrow(lower: key.bytes)
        SortKeyBytes.successor(of: key.bytes).map { narrow(upper: $0) }
        return true
    }

    private mutating func narrow(lower bound: [UInt8]) {
        if lower.map({ $0.lexicographicallyPrecedes(bound) }) ?? true { lower = bound }
    }

    private mutating func narrow(upper bound: [UInt8]) {
        if upper.map({ bound.lexicographicallyPrecedes($0) }) ?? true { upper = bound }
    }

    /// One bound of a range of values.
    private struct End {
        var value: ColumnValue
        var isIncluded: Bool
    }

    private static func range(_ comparison: Comparison, _ value: ColumnValue) -> (from: End?, to: End?)? {
        // NaN sorts beyond infinity and passes no range condition, so open ends are closed at infinity.
        var first: End?
        var last: End?
        switch value {
        case .null: return nil
        case .double(let number):
            if number.isNaN { return nil }
            first = End(value: .double(-.infinity), isIncluded: true)
            last = End(value: .double(.infinity), isIncluded: true)
        case .date(let date):
            if date.timeIntervalSinceReferenceDate.isNaN { return nil }
            first = End(value: .date(.init(timeIntervalSinceReferenceDate: -.infinity)), isIncluded: true)
            last = End(value: .date(.init(timeIntervalSinceReferenceDate: .infinity)), isIncluded: true)
        default: break
        }
        return switch comparison {
        case .equal: (End(value: value, isIncluded: true), End(value: value, isIncluded: true))
        case .less: (first, End(value: value, isIncluded: false))
        case .lessOrEqual: (first, End(value: value, isIncluded: true))
        case .greater: (End(value: value, isIncluded: false), last)
        case .greaterOrEqual: (End(value: value, isIncluded: true), last)
        case .notEqual: nil
        }
    }

    /// Narrows the window by one bound.
    /// - Returns: false if the bound cannot be expressed as bytes.
    private mutating func narrow(_ end: End, isLower: Bool, ascending: Bool) -> Bool {
        var key = SortKeyBytes()
        guard key.append(end.value, ascending: ascending) else { return false }
        // A bound is the first key that is shown, or the first that is no longer shown.
        let bound = end.isIncluded == isLower ? key.bytes : SortKeyBytes.successor(of: key.bytes)
        guard let bound else { return !isLower }
        if isLower { narrow(lower: bound) } else { narrow(upper: bound) }
        return true
    }
}
