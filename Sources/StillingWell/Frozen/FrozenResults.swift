// A collection as it was at one version, for any thread: the snapshot and the ranked tree of that version, both of
// which are immutable and shared with whoever else has them.

/// What a query found when it was frozen, in order. Immutable, for any thread.
///
/// Keeps its version in the file while it lives: let go of it when it is not needed.
public struct FrozenResults<Object: StoredObject>: RandomAccessCollection, Sendable {
    let pin: FrozenPin
    let table: Table
    /// Where the rows are elements of a list: their table.
    let elements: Table?
    let rows: TreeSlice
    let remake: @Sendable (Connection) -> Results<Object>

    /// The version at which it was frozen.
    public var version: UInt64 { pin.snapshot.version }

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// O(log n).
    public subscript(position: Int) -> Frozen<Object> {
        checkIndex(position, of: rows.count, "objects of these frozen results of \(table.schema.name)")
        return Frozen(pin: pin, table: table, objectID: objectID(ofRow: rows.id(at: position)))
    }

    /// The ids of the objects, in order. O(n); reads no row, except for the objects of a list.
    public var objectIDs: [ObjectID] { rows.ids.map { objectID(ofRow: $0) } }

    private func objectID(ofRow row: UInt64) -> ObjectID {
        let id = ObjectID(rawValue: row)
        guard let elements, let element = pin.snapshot.rowOrStop(elements, id) else { return id }
        return ObjectID(rawValue: element.slot(ListTable.value))
    }

    /// Asks the whole store as it was at this version. As `Frozen.read`.
    /// - Throws: what `body` throws.
    public func read<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(FrozenConnection(pin))
    }

    /// The same query, live on `connection`, at the version the connection stands at. On its scheduler.
    /// - Throws: `otherStore`, `closed`.
    public func thaw(on connection: Connection) throws -> Results<Object> {
        try connection.checkResolves(pin.snapshot.storage, path: pin.store.configuration.path)
        return remake(connection)
    }
}

extension Results {
    /// The rows as this connection shows them now, for any thread. O(1); right after a write of this connection's own
    /// that has not been delivered yet, O(rows of the table). On the connection's scheduler.
    /// - Throws: `freezeInWrite` inside a write block; `otherStore`, `otherClass`, `filterTooDeep` for a filter that cannot
    ///   be asked here.
    public func freeze(file: String = #fileID, line: Int = #line) throws -> FrozenResults<Object> {
        if let fault = query.plan.fault { throw fault }
        let pin = try connection.pin(file: file, line: line)
        let rows: TreeSlice
        if connection.showsDeliveredVersion {
            rows = try connection.rows(query)
        } else {
            // The rows shown are those of the last delivery with own writes on them, and so of no single version.
            let trees = try FirstEvaluation.evaluate([(query.plan.tree, query.table)], in: pin.snapshot)
            rows = trees[0].slice(query.window)
        }
        return FrozenResults(
            pin: pin, table: table, elements: asked.list?.elements, rows: rows, remake: remake)
    }
}
