// A loop over results: an object per row, made when the loop comes to it. Rows in the order of their ids are found a page at a
// time, in the version that the loop has begun with; of others the ids are known, and who reads a property finds the row. On the
// connection's scheduler.

/// Goes over the objects that results showed when it was made.
///
/// An object that the loop has let go of, and to which nothing refers, stands for a later row: to make one costs more than all else
/// that a loop does. Not of a class that has properties which are not stored.
public struct ResultsIterator<Object: StoredObject>: IteratorProtocol {
    private let connection: Connection
    private let table: Table
    private let isReusing = ModelLayout.of(Object.self).isAllStored
    /// The object returned last, where it may be used again.
    private var last: Object?

    private var found: [ScannedRow] = []
    private var nextFound = 0
    /// Where more of them come from.
    private var scan: RowScan?
    /// The connection's `rowEpoch` for which the rows hold; nil amid a write, where they may move.
    private let epoch: Int?
    /// What they were read from; nil as `epoch`.
    private let source: Snapshot?

    /// What comes after those that are found: rows of `list`, where there is one.
    private var ids: [UInt64] = []
    private var nextID = 0
    private var list: ListSource?

    /// Over the rows of the version that the connection shows.
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

    /// The next object; nil behind the last one.
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

    /// Whether the object returned last is nobody's any more.
    @inline(__always)
    private mutating func mayReuse() -> Bool {
        isReusing && isKnownUniquelyReferenced(&last) && last.unsafelyUnwrapped.isUnwatched
    }

    private mutating func kept(_ object: Object) -> Object {
        // What a write in progress has made is undone with it.
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
    /// What an iterator comes to, however much that is.
    init(gathering iterator: some IteratorProtocol<Element>) {
        self.init()
        var iterator = iterator
        while let element = iterator.next() { append(element) }
    }
}
