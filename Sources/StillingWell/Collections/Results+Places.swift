// Indices of objects in results, as a user interface needs them to scroll to an object or to select it.

extension Results {
    /// Returns the index of an object, or nil if it is not in the results or not stored. Complexity as `index(ofID:)`.
    /// - Throws: `otherStore` for an object of another store, whose id may belong to another object here.
    public func index(of object: Object) throws -> Int? {
        try connection.number(of: object, in: table).flatMap { index(ofID: $0) }
    }

    /// Returns the index of the object with this id, or nil if it is not in the results. O(log n) once the query is
    /// evaluated. For the objects of a list, returns the first such index: O(n).
    public func index(ofID id: ObjectID) -> Int? {
        asked.list == nil ? connection.shownIndex(of: id, query) : objectIDs.firstIndex(of: id)
    }
}

extension SectionedResults {
    /// Returns the path of an object, or nil if it is not in the results or not stored. O(log n) once the query is
    /// evaluated.
    /// - Throws: `otherStore` for an object of another store.
    public func path(of object: Object) throws -> RowPath? {
        try connection.number(of: object, in: table).flatMap { path(ofID: $0) }
    }

    /// Returns the path of the object with this id, or nil if it is not in the results. O(log n) once the query is
    /// evaluated.
    public func path(ofID id: ObjectID) -> RowPath? { asQuery.path(of: id) }
}

extension Connection {
    /// Returns the id of an object in a table. nil if it is not stored or its class has another table.
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
