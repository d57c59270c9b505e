// Where an object is among those shown: what an interface asks that wants to scroll to it, or to select it again.

extension Results {
    /// The index of an object; nil where it is not among these, or not stored. O(log n) once the query is evaluated.
    public func index(of object: Object) -> Int? { object.binding.flatMap { index(ofID: $0.id) } }

    /// The index of the object with this identity; nil where it is not among these. O(log n) once the query is evaluated;
    /// of the objects of a list the first such index, O(n).
    public func index(ofID id: ObjectID) -> Int? {
        list == nil ? connection.shownIndex(of: id, query) : objectIDs.firstIndex(of: id)
    }
}

extension SectionedResults {
    /// The path of an object; nil where it is not among these, or not stored. O(log n) once the query is evaluated.
    public func path(of object: Object) -> RowPath? { object.binding.flatMap { path(ofID: $0.id) } }

    /// The path of the object with this identity; nil where it is not among these. O(log n) once the query is evaluated.
    public func path(ofID id: ObjectID) -> RowPath? {
        guard let rank = connection.shownIndex(of: id, query) else { return nil }
        var places = SectionPlaces(connection.shownRows(query))
        return places.path(ofRank: rank)
    }
}

extension Connection {
    /// Where a row is in a query as this connection shows it.
    func shownIndex(of id: ObjectID, _ query: ConnectionQuery) -> Int? {
        checkScheduler()
        do {
            return try query.index(of: id, self)
        } catch {
            transaction?.fail(error)
            return nil
        }
    }
}
