// What a program declares about one class of its models, without the class: all that is needed to open its table.

/// One model class, as its table has to become.
struct ModelDeclaration: Sendable {
    /// A class of the program, and the name of its table. Two may have one name.
    typealias Class = (id: ObjectIdentifier, name: String)

    let model: Class
    /// Of each stored property, in order of declaration.
    let columns: [ColumnSchema]
    /// The class that each property leads to; nil where it leads nowhere.
    let targets: [Class?]
    /// Properties that are declared as the primary key; a class that can be stored has one at most.
    let primaryKeys: [Int]
    /// What the lists among the properties hold, by their ordinals.
    let elements: [Int: ColumnSchema]
    /// Whether Swift's Observation may track what is read of the class.
    let isObservable: Bool
    /// Makes a row be one of a new object, its properties by their ordinals.
    let makeRow: @Sendable (RowBuffer) -> Void

    init(
        model: Class, columns: [ColumnSchema], targets: [Class?], primaryKeys: [Int], elements: [Int: ColumnSchema],
        isObservable: Bool, makeRow: @escaping @Sendable (RowBuffer) -> Void
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
