// Objects that link to an object: a query answered by the link's index.

extension StoredObject {
    /// Returns the objects whose link leads to this one, live and in order of creation.
    /// - Throws: `notStored`, `unknownModel`; `otherClass` if the link leads to another class.
    public func linkingObjects<Source: StoredObject, Target: StoredObject>(
        _ keyPath: KeyPath<Source, Target?>
    ) throws -> Results<Source> {
        let column = ModelLayout.of(Source.self).column(keyPath)
        return try linking(condition { .compare(column: column, .equal, .link($0), isOptional: true) })
    }

    /// Returns the objects whose list contains this one, live and in order of creation.
    /// - Throws: `notStored`, `unknownModel`; `otherClass` if the list contains another class.
    public func linkingObjects<Source: StoredObject, Target: StoredObject>(
        _ keyPath: KeyPath<Source, List<Target>>
    ) throws -> Results<Source> {
        let column = ModelLayout.of(Source.self).column(keyPath)
        return try linking(.quantified(column: column, .any, condition { .identity($0) }))
    }

    private func linking<Source: StoredObject>(_ filter: FilterExpression) throws -> Results<Source> {
        guard let binding else { throw StoreError.notStored(type: "\(type(of: self))") }
        let table = try binding.connection.core.storage.table(of: Source.self)
        let isSource = try table.layout.stored(filter, on: binding.connection)
        return Results(binding.connection, table, Refinement(filter: isSource))
    }
}
