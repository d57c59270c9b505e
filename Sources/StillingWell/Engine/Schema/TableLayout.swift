// Mapping from the properties of a model class to the columns of its stored table, which keep the order of their first
// declaration. Made once per table when a store is opened, and constant afterwards. Any thread.
import StillingWellBasis
import Synchronization

/// Maps the stored properties of a class, by ordinal, to the columns of a table.
@usableFromInline
final class TableLayout: Sendable {
    /// Name of the class and of its table.
    let name: String
    /// Names of the classes that the properties link to.
    private let targets: [String?]
    /// The stored column of each property.
    @usableFromInline let columns: [Int]
    /// Whether each property has the column with its own number, and there are no other columns.
    @usableFromInline let isDirect: Bool
    let columnCount: Int
    /// Optional columns that the class does not have. A new row leaves them null.
    let hiddenOptionals: [Int]
    /// Stored columns whose bytes are behind the slots.
    let outOfLine: [Int]
    /// Stored columns whose large values are in their own table.
    let largeColumns: [Int]
    /// Stored columns of lists, which count the changes of a list, bit i for column i.
    let listColumns: UInt64
    /// Whether the class has links or lists: an object is then added together with the objects it refers to.
    let isConnected: Bool
    /// Whether Swift's Observation may track reads of the class. Looked up at first use: programs open more classes than
    /// they read.
    var isObservable: Bool {
        @inline(__always) get {
            let known = observability.load(ordering: .relaxed)
            return known == Self.unknown ? findObservability() : known == Self.observable
        }
    }
    private let lookUpObservability: @Sendable () -> Bool
    private let observability = Atomic<UInt8>(TableLayout.unknown)
    private static var unknown: UInt8 { 0 }
    private static var plain: UInt8 { 1 }
    private static var observable: UInt8 { 2 }
    private let all: LayoutSet

    /// - Parameter model: nil for the hidden table of a list.
    init(_ model: ModelDeclaration?, _ table: TableSchema, in all: LayoutSet) {
        name = table.name
        targets = model?.targets.map { $0?.name } ?? []
        self.all = all
        let columns = (model?.columns ?? []).map { property in
            guard let column = table.columns.firstIndex(where: { $0.name == property.name }) else {
                stopProgram("'\(table.name)' was opened without a column for '\(property.name)'")
            }
            return column
        }
        self.columns = columns
        columnCount = table.columns.count
        isConnected = columns.contains { [.link, .list].contains(table.columns[$0].type) }
        isDirect = columns.elementsEqual(0..<columnCount)
        hiddenOptionals = table.columns.indices.filter { table.columns[$0].isOptional && !columns.contains($0) }
        outOfLine = table.outOfLine
        largeColumns = table.largeColumns
        listColumns = table.columns.indices.reduce(0) { table.columns[$1].type == .list ? $0 | 1 << UInt64($1) : $0 }
        if let model { lookUpObservability = model.isObservable } else { lookUpObservability = { false } }
    }

    @inline(never)
    private func findObservability() -> Bool {
        let isObservable = lookUpObservability()
        observability.store(isObservable ? Self.observable : Self.plain, ordering: .relaxed)
        return isObservable
    }

    /// Stored column of the property with this ordinal.
    @inlinable @inline(__always)
    func column(_ ordinal: Int) -> Int { isDirect ? ordinal : columns[ordinal] }

    // MARK: Conversion of properties to stored columns

    func stored(_ term: SortTerm) -> SortTerm {
        guard var over = term.over else { return SortTerm(column: column(term.column), ascending: term.ascending) }
        let path = stored(ColumnPath(over.links + [term.column]))
        over.links = Array(path.links)
        return SortTerm(column: path.column, ascending: term.ascending, over: over)
    }

    func stored(_ path: ColumnPath) -> ColumnPath {
        var layout: TableLayout? = self
        return ColumnPath(
            path.columns.map { ordinal in
                defer { layout = layout?.target(ordinal) }
                return layout?.column(ordinal) ?? ordinal
            })
    }

    /// Layout of the class that a link, or a list of links, leads to.
    func target(_ ordinal: Int) -> TableLayout? { targetName(ordinal).flatMap { all.layouts[$0] } }

    /// Name of the class that a link, or a list of links, leads to.
    func targetName(_ ordinal: Int) -> String? { targets.indices.contains(ordinal) ? targets[ordinal] : nil }

    /// Whether, in the tables of all models of the store, every property has the column with its own number.
    var areAllDirect: Bool { all.areDirect }

    fileprivate var needsNoMap: Bool { isDirect || columns.isEmpty }
}

/// The layouts of the tables of a store's models and their lists, by name.
///
/// Unchecked because it is complete before the store is opened for other threads.
final class LayoutSet: @unchecked Sendable {
    fileprivate private(set) var layouts: [String: TableLayout] = [:]
    fileprivate private(set) var areDirect = true

    func add(_ layout: TableLayout, _ name: String) {
        // The layouts retain the set in turn, so these few objects are never freed.
        layouts[name] = layout
        areDirect = areDirect && layout.needsNoMap
    }
}

extension RowReader {
    /// Makes a copy that outlives the source of the row and contains its large values.
    func copy(_ layout: TableLayout) -> [UInt8] {
        guard layout.largeColumns.contains(where: { !isNull($0) && largeValue(slot($0)) != nil }) else {
            return Array(image)
        }
        let copy = RowBuffer()
        copy.load(self, columnCount: layout.columnCount, outOfLine: layout.outOfLine)
        for column in layout.largeColumns where !isNull(column) && largeValue(slot(column)) != nil {
            copy.setBytes(column, bytes(column))
        }
        return Array(copy.bytes)
    }
}
