// Where an object is among those shown: what an interface asks that wants to scroll to it, or to select it again.

extension Results {
    /// The index of an object; nil where it is not among these, or not stored. O(log n) once the query is evaluated.
    /// - Throws: `otherStore` for an object of another store: its number may be that of another object here, and nil would
    ///   hide that the caller has mixed up two stores.
    public func index(of object: Object) throws -> Int? {
        try connection.number(of: object, in: table).flatMap { index(ofID: $0) }
    }

    /// The index of the object with this identity; nil where it is not among these. O(log n) once the query is evaluated;
    /// of the objects of a list the first such index, O(n).
    public func index(ofID id: ObjectID) -> Int? {
        asked.list == nil ? connection.shownIndex(of: id, query) : objectIDs.firstIndex(of: id)
    }
}

extension SectionedResults {
    /// The path of an object; nil where it is not among these, or not stored. O(log n) once the query is evaluated.
    /// - Throws: `otherStore` for an object of another store.
    public func path(of object: Object) throws -> RowPath? {
        try connection.number(of: object, in: table).flatMap { path(ofID: $0) }
    }

    /// The path of the object with this identity; nil where it is not among these. O(log n) once the query is evaluated.
    public func path(ofID id: ObjectID) -> RowPath? { asQuery.path(of: id) }
}

extension Connection {
    /// The number that an object has in a table; nil for one that is not stored, or is of a class with another table.
    fileprivate func number(of object: StoredObject, in table: Table) throws(StoreError) -> ObjectID? {
        guard let binding = object.binding else { return nil }
        try checkIsOfStore(binding)
        return binding.table.id == table.id ? binding.id : nil
    }

    func shownIndex(of id: ObjectID, _ query: ConnectionQuery) -> Int? {
        checkScheduler()
        do {
            return try query.index(of: id, self)
        } catch {
            failReading(error)
            return nil
        }
    }
}
