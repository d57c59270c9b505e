// A collection at one version, for any thread: a snapshot and the ranked tree of that version, both immutable and
// shared.

/// The result of a query when it was frozen, in order. Immutable; any thread.
///
/// Keeps its version in the file or in memory, so release it when it is no longer needed.
public struct FrozenResults<Object: StoredObject>: RandomAccessCollection, Sendable {
    let pin: FrozenPin
    let table: Table
    /// Table of the list's elements if the rows are elements of a list, else nil.
    let elements: Table?
    let rows: TreeSlice
    let remake: @Sendable (Connection) -> Results<Object>

    /// Version at which it was frozen.
    public var version: UInt64 { pin.snapshot.version }

    /// Number of objects. O(1).
    public var count: Int { rows.count }
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }

    /// O(log n).
    public subscript(position: Int) -> Frozen<Object> {
        checkIndex(position, of: rows.count, "objects of these frozen results of \(table.schema.name)")
        return Frozen(pin: pin, table: table, objectID: objectID(ofRow: rows.id(at: position)))
    }

    /// Ids of the objects, in order. O(n). Reads no rows, except for the objects of a list.
    public var objectIDs: [ObjectID] { rows.ids.map { objectID(ofRow: $0) } }

    private func objectID(ofRow row: UInt64) -> ObjectID {
        let id = ObjectID(rawValue: row)
        guard let elements, let element = pin.snapshot.rowOrStop(elements, id) else { return id }
        return ObjectID(rawValue: element.slot(ListTable.value))
    }

    /// Runs `body` with the whole store at this version. See `Frozen.read(_:)`.
    /// - Throws: what `body` throws.
    public func read<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(FrozenConnection(pin))
    }

    /// Returns the same query live on `connection`, at that connection's version. On its scheduler.
    /// - Throws: `otherStore`, `closed`.
    public func thaw(on connection: Connection) throws -> Results<Object> {
        try connection.checkResolves(pin.snapshot.storage, path: pin.store.configuration.path)
        return remake(connection)
    }
}

extension Results {
    /// Returns the rows as this connection shows them, for any thread. O(1) if the query is evaluated. Evaluates it
    /// otherwise, and right after an own write that has not been delivered. On the connection's scheduler.
    /// - Throws: `freezeInWrite` inside a write block; `otherStore`, `otherClass`, `filterTooDeep` for an invalid
    ///   filter; `damaged` or `storage` if rows cannot be read.
    public func freeze(file: String = #fileID, line: Int = #line) throws -> FrozenResults<Object> {
        if let fault = query.plan.fault { throw fault }
        let pin = try connection.pin(file: file, line: line)
        let rows: TreeSlice
        if connection.showsDeliveredVersion {
            rows = try connection.rows(query)
        } else {
            // The shown rows combine the delivered version with own writes, and so belong to no single version.
            let trees = try FirstEvaluation.evaluate([(query.plan.tree, query.table)], in: pin.snapshot)
            rows = trees[0].slice(query.window)
        }
        return FrozenResults(
            pin: pin, table: table, elements: asked.list?.elements, rows: rows, remake: remake)
    }
}
