// How the properties of a model class meet the columns of its stored table, which keep the order in which they were
// first declared. Made once per table when a store is opened, and constant from then on; any thread.

/// Maps the stored properties of one class, by their ordinals, to the columns of one table.
final class TableLayout: Sendable {
    let model: ModelLayout
    /// The stored column of each property.
    private let columns: [Int]
    /// Every property lies in the column of its own number, and there are no others.
    private let isDirect: Bool
    private let columnCount: Int
    /// Optional columns that the class does not have: a new row leaves them null.
    private let hiddenOptionals: [Int]
    /// Stored columns whose bytes lie behind the slots.
    let outOfLine: [Int]

    init(_ model: ModelLayout, _ table: TableSchema) {
        self.model = model
        columns = model.properties.map { property in
            guard let column = table.columns.firstIndex(where: { $0.name == property.name }) else {
                preconditionFailure("'\(table.name)' was opened without a column for '\(property.name)'")
            }
            return column
        }
        columnCount = table.columns.count
        isDirect = columns.elementsEqual(0..<columnCount)
        hiddenOptionals = table.columns.indices.filter { [columns] column in
            table.columns[column].isOptional && !columns.contains(column)
        }
        outOfLine = table.columns.indices.filter { table.columns[$0].type.isOutOfLine }
    }

    /// The stored column of the property with this ordinal.
    @inline(__always)
    func column(_ ordinal: Int) -> Int { isDirect ? ordinal : columns[ordinal] }

    /// The stored column that a key path of the class names.
    func column<Object: StoredObject, Value>(_ keyPath: KeyPath<Object, Value>) -> Int {
        column(model.column(keyPath))
    }

    /// A condition on properties as one on stored columns.
    func stored(_ condition: FilterExpression) -> FilterExpression {
        isDirect ? condition : condition.renumbered { columns[$0] }
    }

    func stored(_ term: SortTerm) -> SortTerm { SortTerm(column: column(term.column), ascending: term.ascending) }

    /// Writes the values of an object that is not stored yet into `row`.
    func encode(_ object: StoredObject, into row: RowBuffer) {
        row.reset(columnCount: columnCount)
        let address = object.address
        for (ordinal, property) in model.properties.enumerated() {
            property.wrapper.write(at: address + property.offset, row, column(ordinal))
        }
        for column in hiddenOptionals { row.setNull(column) }
    }
}
