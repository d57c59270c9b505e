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
    /// - Throws: `notStored`, `unknownModel`; `otherClass` if the link or list is of another class.
    public func linkingObjects<Source: StoredObject, Property: _LinkingProperty>(
        _ keyPath: KeyPath<Source, Property>
    ) throws -> Results<Source> {
        guard let binding else { throw StoreError.notStored(type: "\(type(of: self))") }
        let column = ModelLayout.of(Source.self).column(keyPath)
        let filter: FilterExpression =
            Property._isList
            ? .quantified(column: column, .any, condition { .identity($0) })
            : condition { .compare(column: column, .equal, .link($0), isOptional: true) }
        let table = try binding.connection.core.storage.table(of: Source.self)
        let isSource = try table.layout.stored(filter, on: binding.connection)
        return Results(binding.connection, table, Refinement(filter: isSource))
    }
}
