// A loop over results, which makes an object per row when the loop reaches it. Without an order and a limit, rows are
// found a page at a time, in the version at the loop's start. In a write or with a limit, rows are found before the
// loop. If the rows are in a tree, only their ids are known before the loop, and reading a property finds the row. On
// the connection's scheduler.

/// Iterates over the objects that results showed when it was made.
///
/// Outside of a write, the last returned object is reused for the next row if nothing refers to it any more: making
/// objects is the largest cost of a loop. Objects of a class with properties that are not stored are not reused.
public struct _ResultsIterator<Object: StoredObject>: IteratorProtocol {
    private let connection: Connection
    private let table: Table
    private let isReusing = ModelLayout.of(Object.self).isAllStored
    /// Object returned last, if it may be reused.
    private var last: Object?

    private var found: [ScannedRow] = []
    private var nextFound = 0
    private var scan: RowScan?
    /// The connection's `rowEpoch` in which the rows are valid. nil during a write, where they may move, and for `ids`.
    private let epoch: Int?
    /// Snapshot that the rows were read from. nil if `epoch` is.
    private let source: Snapshot?

    /// Row ids to return, if the rows are in a tree. If `list` is set, they are ids of its elements.
    private var ids: [UInt64] = []
    private var nextID = 0
    private var list: ListSource?

    /// Iterates over the rows of the version that the connection shows.
    init(_ connection: Connection, _ table: Table, _ scan: RowScan) {
        (self.connection, self.table, self.scan) = (connection, table, scan)
        epoch = connection.rowEpoch
        source = scan.snapshot
    }

    init(_ connection: Connection, _ table: Table, _ found: [ScannedRow]) {
        (self.connection, self.table, self.found) = (connection, table, found)
        epoch = connection.foundEpoch
        source = epoch == nil ? nil : connection.shown
    }

    init(_ connection: Connection, _ table: Table, _ ids: [UInt64], of list: ListSource?) {
        (self.connection, self.table, self.ids, self.list) = (connection, table, ids, list)
        (epoch, source) = (nil, nil)
    }

    /// Returns the next object, or nil at the end.
    public mutating func next() -> Object? {
        if nextFound < found.count || findMore() {
            let row = found[nextFound]
            nextFound += 1
            if let epoch, let source, mayReuse() {
                last.unsafelyUnwrapped.rebind(row.id, found: (row.row(in: source), epoch))
                return last
            }
            return kept(connection.makeObject(table, row, epoch))
        }
        if nextID == ids.count { return nil }
        let id = ids[nextID]
        nextID += 1
        let row = list?.objectID(ofElement: id, connection) ?? ObjectID(rawValue: id)
        if connection.transaction == nil, mayReuse() {
            last.unsafelyUnwrapped.rebind(row, found: nil)
            return last
        }
        return kept(connection.makeObject(table, row))
    }

    /// Whether nothing else refers to the object returned last, so that it can be reused.
    @inline(__always)
    private mutating func mayReuse() -> Bool {
        isReusing && isKnownUniquelyReferenced(&last) && last.unsafelyUnwrapped.isUnwatched
    }

    private mutating func kept(_ object: Object) -> Object {
        // Not kept in a write: objects of rows that it has made are tied to its outcome.
        last = isReusing && connection.transaction == nil ? object : nil
        return object
    }

    @inline(never)
    private mutating func findMore() -> Bool {
        if scan == nil { return false }
        scan?.fill(&found)
        connection.noteFailedReads()
        nextFound = 0
        return !found.isEmpty
    }
}

extension ContiguousArray {
    init(gathering iterator: some IteratorProtocol<Element>) {
        self.init()
        var iterator = iterator
        while let element = iterator.next() { append(element) }
    }
}
