// Objects that link to an object: a query answered by the link's index.

/// A property that links to objects: a link or a list of objects.
public protocol _LinkingProperty {
    /// Whether the property is a list.
    static var _isList: Bool { get }
}

extension Optional: _LinkingProperty where Wrapped: StoredObject {
    public static var _isList: Bool { false }
}

extension List: _LinkingProperty where Element: StoredObject {
    public static var _isList: Bool { true }
}

extension StoredObject {
    /// Returns the objects whose link leads to this one, or whose list contains it, live and in order of creation.
    /// - Throws: `notStored`, `unknownModel`; `otherClass` if the link or list is for objects of another class.
    public func linkingObjects<Source: StoredObject, Property: _LinkingProperty>(
        _ keyPath: KeyPath<Source, Property>
    ) throws -> Results<Source> {
        guard let binding else { throw StoreError.notStored(type: "\(type(of: self))") }
        let table = try binding.connection.core.storage.table(of: Source.self)
        let ordinal = ModelLayout.of(Source.self).column(keyPath)
        let (expected, actual) = (table.layout.targetName(ordinal), binding.table.schema.name)
        if let expected, expected != actual { throw StoreError.otherClass(type: actual, expected: expected) }
        // Store and class of the object are known to fit, so the condition needs no check and names stored columns.
        let column = table.layout.column(ordinal)
        let isSource: FilterExpression =
            Property._isList
            ? .quantified(column: column, .any, .identity(binding.id))
            : .compare(column: column, .equal, .link(binding.id), isOptional: true)
        return Results(binding.connection, table, Refinement(filter: isSource))
    }
}
