// Declaration of a model class by a program, without the class itself.

/// A model class as its table should be.
struct ModelDeclaration: Sendable {
    /// A class of the program, and the name of its table. Two classes may have the same name.
    typealias Class = (id: ObjectIdentifier, name: String)

    let model: Class
    /// Schemas of the stored properties, in order of declaration.
    let columns: [ColumnSchema]
    /// Class that each property links to, or nil.
    let targets: [Class?]
    /// Properties declared as primary key. A valid class has at most one.
    let primaryKeys: [Int]
    /// Element schemas of the list properties, with their ordinals, ascending.
    let elements: [(ordinal: Int, schema: ColumnSchema)]
    /// Returns whether Swift's Observation may track reads of the class. Costs a look-up in all conformances of the
    /// program.
    let isObservable: @Sendable () -> Bool
    /// Fills a row with the values of a new object, by property ordinals.
    let makeRow: @Sendable (RowBuffer) -> Void

    init(
        model: Class, columns: [ColumnSchema], targets: [Class?], primaryKeys: [Int],
        elements: [(ordinal: Int, schema: ColumnSchema)], isObservable: @escaping @Sendable () -> Bool,
        makeRow: @escaping @Sendable (RowBuffer) -> Void
    ) {
        self.model = model
        self.columns = columns
        self.targets = targets
        self.primaryKeys = primaryKeys
        self.elements = elements
        self.isObservable = isObservable
        self.makeRow = makeRow
    }

    var name: String { model.name }
    var primaryKey: Int? { primaryKeys.first }
}
