// The way back along a link: which objects lead to this one. A query like any other, answered by the link's index.

extension StoredObject {
    /// The objects whose link leads to this one, live and in order of creation.
    /// - Throws: `notStored`, `unknownModel`.
    public func linkingObjects<Source: StoredObject, Target: StoredObject>(
        _ keyPath: KeyPath<Source, Target?>
    ) throws -> Results<Source> {
        let id = try backlinkID()
        let column = ModelLayout.of(Source.self).column(keyPath)
        return try linking(.compare(column: column, .equal, .link(id), isOptional: true))
    }

    /// The objects whose list has this one, live and in order of creation.
    /// - Throws: `notStored`, `unknownModel`.
    public func linkingObjects<Source: StoredObject, Target: StoredObject>(
        _ keyPath: KeyPath<Source, List<Target>>
    ) throws -> Results<Source> {
        let id = try backlinkID()
        let column = ModelLayout.of(Source.self).column(keyPath)
        return try linking(.quantified(column: column, .any, .identity(id)))
    }

    private func backlinkID() throws -> ObjectID {
        guard let objectID else { throw StoreError.notStored(type: "\(type(of: self))") }
        return objectID
    }

    private func linking<Source: StoredObject>(_ filter: FilterExpression) throws -> Results<Source> {
        guard let connection else { throw StoreError.notStored(type: "\(type(of: self))") }
        return Results(connection, try connection.core.storage.table(of: Source.self), filter, [])
    }
}
