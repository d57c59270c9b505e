// How the properties of a model class meet the columns of its stored table, which keep the order in which they were
// first declared. Made once per table when a store is opened, and constant from then on; any thread.

/// One property on its way into a row.
private struct EncodingStep: @unchecked Sendable {
    let column: Int
    /// From the instance's start.
    let offset: Int
    /// nil where the column's slot is just what lies there.
    let wrapper: (any AnyStored.Type)?
}

/// Maps the stored properties of one class, by their ordinals, to the columns of one table.
final class TableLayout: Sendable {
    let model: ModelLayout
    /// The stored column of each property.
    private let columns: [Int]
    /// Every property lies in the column of its own number, and there are no others.
    private let isDirect: Bool
    private let columnCount: Int
    /// How an instance becomes a row.
    private let encoding: [EncodingStep]
    /// Optional columns that the class does not have: a new row leaves them null.
    private let hiddenOptionals: [Int]
    /// Stored columns whose bytes lie behind the slots.
    let outOfLine: [Int]
    /// Whether Swift's Observation may track what is read of the class.
    let isObservable: Bool
    /// The layouts of all tables of the store.
    private let all: LayoutSet

    /// - Parameter model: nil for the hidden table of a list.
    init(_ model: ModelLayout?, _ table: TableSchema, in all: LayoutSet) {
        self.model = model ?? ModelLayout(table.name, [])
        self.all = all
        let columns = (model?.properties ?? []).map { property in
            guard let column = table.columns.firstIndex(where: { $0.name == property.name }) else {
                preconditionFailure("'\(table.name)' was opened without a column for '\(property.name)'")
            }
            return column
        }
        self.columns = columns
        columnCount = table.columns.count
        encoding = zip(model?.properties ?? [], columns).map { property, column in
            EncodingStep(
                column: column, offset: property.offset + (property.wrapper.slotOffset ?? 0),
                wrapper: property.wrapper.slotOffset == nil ? property.wrapper : nil)
        }
        isDirect = columns.elementsEqual(0..<columnCount)
        hiddenOptionals = table.columns.indices.filter { table.columns[$0].isOptional && !columns.contains($0) }
        outOfLine = table.outOfLine
        isObservable = self.model.isObservable
    }

    /// Properties that lead to other rows, in order: links and lists.
    var connected: [(ordinal: Int, offset: Int, wrapper: any AnyConnected.Type)] { model.connected }

    /// The stored column of the property with this ordinal.
    @inline(__always)
    func column(_ ordinal: Int) -> Int { isDirect ? ordinal : columns[ordinal] }

    /// The stored column that a key path of the class names.
    func column<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> Int { column(model.column(keyPath)) }

    /// The stored columns that key paths of the class name, as bits.
    func mask<Object: StoredObject>(of keyPaths: [PartialKeyPath<Object>]) -> UInt64 {
        keyPaths.reduce(0) { $0 | 1 << UInt64(column($1)) }
    }

    /// Writes the values of an object that is not stored yet into `row`.
    func encode(_ object: StoredObject, into row: RowBuffer) {
        row.reset(columnCount: columnCount)
        let address = object.address
        for step in encoding {
            if let wrapper = step.wrapper {
                wrapper.write(at: address + step.offset, row, step.column)
            } else {
                row.setSlot(step.column, address.load(fromByteOffset: step.offset, as: UInt64.self))
            }
        }
        for column in hiddenOptionals { row.setNull(column) }
    }

    // MARK: What was said of properties, said of stored columns

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

    /// The layout of what a link, or a list of links, leads to.
    func target(_ ordinal: Int) -> TableLayout? {
        guard model.properties.indices.contains(ordinal), let target = model.properties[ordinal].target else {
            return nil
        }
        return all.layouts["\(target)"]
    }

    /// Whether that is so in all tables of the store: every column has the number of its property.
    var areAllDirect: Bool { all.areDirect }

    fileprivate var needsNoMap: Bool { isDirect || model.properties.isEmpty }
}

/// The layouts of a store's tables, by name. Complete before the store is anybody's.
final class LayoutSet: @unchecked Sendable {
    fileprivate private(set) var layouts: [String: TableLayout] = [:]
    fileprivate private(set) var areDirect = true

    func add(_ layout: TableLayout, _ name: String) {
        // The tables hold the set in turn; a handful of them live as long as the store's models do.
        layouts[name] = layout
        areDirect = areDirect && layout.needsNoMap
    }
}
