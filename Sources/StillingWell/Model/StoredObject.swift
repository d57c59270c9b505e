// The base class of models, and the binding of an object to its row. An object belongs to one connection and is used
// where that connection is.

/// The superclass of everything that can be stored. Subclasses give every `@Stored` property a default value.
///
/// An object is a plain one until it is added to a store; from then on, or when it was read from a store, its
/// properties read and write the row. Not Sendable: use it on its connection's thread or queue.
open class StoredObject {
    /// The connection of the row; nil of a plain object. Counted by hand, once per object, because the compiler would count it
    /// at each read of a property.
    private var home: Unmanaged<Connection>?
    /// The row's table. Not counted: the connection's store keeps its tables.
    private var table: Unmanaged<Table>?
    private var row = ObjectID.none
    /// The write that the object was added in, or the one in progress that has made the row before the object was read.
    private var fate: WriteTransaction.Fate?
    private var isAdded = false
    /// Whether each property lies in the column of its number, and nobody may track which are read.
    private var isDirect = false
    /// Where the row was found last, and the connection's `rowEpoch` then: in another one it may lie elsewhere, or say
    /// something else.
    private var found: (row: RowReader, epoch: Int)?
    /// Set while a key path is being resolved to a column.
    var trace: AccessTrace?

    /// Set while the object stands for a row. One that was added in a write that was cancelled is a plain object again:
    /// its row's number may be somebody else's by now.
    var binding: RowBinding? {
        guard let home, let table, !(isAdded && fate?.isCancelled == true) else { return nil }
        return RowBinding(
            connection: home.takeUnretainedValue(), table: table.takeUnretainedValue(), row: row,
            seenIn: isAdded ? nil : fate)
    }

    /// A plain object, in no store yet.
    public required init() { ModelLayout.prepare(address, of: type(of: self)) }

    deinit {
        if let home {
            home.release()
            // What was read from a store keeps nothing alive.
            if !isAdded { return }
        }
        var held: [StoredObject] = []
        hold(in: &held)
        if held.isEmpty { return }
        forgetPlainValues()
        // While an object goes, what it leads to is held here: objects may be linked in chains that are longer than a stack
        // is deep.
        while var object = held.popLast() {
            if isKnownUniquelyReferenced(&object) { object.hold(in: &held) }
        }
    }

    /// Lets a new object stand for a row.
    /// - Parameter seenIn: the write in progress, if that has made the row.
    @inline(__always)
    final func bind(_ connection: Connection, _ table: Table, _ row: ObjectID, seenIn: WriteTransaction.Fate?) {
        home = Unmanaged.passRetained(connection)
        self.table = Unmanaged.passUnretained(table)
        self.row = row
        fate = seenIn
        isAdded = false
        isDirect = table.layout.isDirect && !table.layout.isObservable
        found = nil
    }

    /// Lets the object, which no write in progress has made, stand for another row of its table.
    /// - Parameter found: where that row is, and for which `rowEpoch` of the connection, where it is known.
    @inline(__always)
    final func rebind(_ row: ObjectID, found: (row: RowReader, epoch: Int)?) {
        self.row = row
        self.found = found
    }

    /// Whether nobody refers to the object without holding it: neither weakly nor as unowned.
    @inline(__always)
    final var isUnwatched: Bool { _getWeakRetainCount(self) == 1 && _getUnownedRetainCount(self) == 1 }

    /// Lets the object, which was a plain one, stand for the row that it was added as.
    final func bind(_ connection: Connection, _ table: Table, _ row: ObjectID, addedIn fate: WriteTransaction.Fate) {
        // Of a write that was cancelled.
        home?.release()
        bind(connection, table, row, seenIn: fate)
        isAdded = true
    }

    private func hold(in held: inout [StoredObject]) {
        for property in ModelLayout.of(type(of: self)).connected {
            property.wrapper.hold(at: address + property.offset, in: &held)
        }
    }

    func forgetPlainValues() {
        for property in ModelLayout.of(type(of: self)).connected {
            property.wrapper.forget(at: address + property.offset)
        }
    }

    /// The row as properties read it, where that is known without another question and each property lies in the column of its
    /// own number; else nil.
    @usableFromInline
    final func knownRow() -> RowReader? {
        guard isDirect, let home, fate == nil else { return nil }
        return home._withUnsafeGuaranteedRef { connection in
            connection.checkPlace()
            if let found, found.epoch == connection.rowEpoch { return found.row }
            return find(connection)
        }
    }

    /// Outside of a write the row is looked up once per version: O(log n), then O(1).
    @inline(never)
    private func find(_ connection: Connection) -> RowReader? {
        // A row that was read in a write that was cancelled is none: its number may be somebody else's by now.
        guard connection.transaction == nil, fate?.isCancelled != true, let table, let shown = connection.shown else {
            return nil
        }
        let known = table._withUnsafeGuaranteedRef { shown.row($0, row) }
        found = known.map { ($0, connection.rowEpoch) }
        return known
    }

    /// The row as properties read it, and the column of a property; nil of a plain object.
    final func place(of ordinal: Int) -> (row: RowReader?, column: Int)? {
        guard let binding else { return nil }
        let (connection, table) = (binding.connection, binding.table)
        connection.checkScheduler()
        let column = table.layout.column(ordinal)
        if table.layout.isObservable { connection.noteRead(table, binding.id, column) }
        if let found, found.epoch == connection.rowEpoch { return (found.row, column) }
        return (find(connection) ?? connection.rowForGetter(table, binding.id), column)
    }

    /// Takes over where a scan has found the row.
    @inline(__always)
    final func noteFound(_ row: RowReader, _ epoch: Int) { found = (row, epoch) }

    /// Whether the properties are the object's own: it stands for no row, and is not being traced.
    @usableFromInline
    final var isPlain: Bool { home == nil && trace == nil }

    /// Where the instance lies in memory; valid while it is referenced.
    var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The row's identity, never reused; nil for an object that is not stored.
    public var objectID: ObjectID? { binding?.id }

    /// Whether the row has been deleted, as far as this object's connection has seen, or the block has ended that the
    /// connection was for. False for a plain object.
    public var isInvalidated: Bool { binding?.isInvalidated ?? false }

    /// The connection this object belongs to; nil for a plain object.
    public var connection: Connection? { binding?.connection }
}

struct RowBinding {
    let connection: Connection
    let table: Table
    let row: ObjectID
    /// The write in progress in which the object was read, if that has also made the row. Once it is cancelled the
    /// object stands for nothing: the next write gives the number to a row of its own.
    var seenIn: WriteTransaction.Fate?

    var id: ObjectID { seenIn?.isCancelled == true ? .none : row }

    var home: ObjectHome {
        ObjectHome(storage: connection.core.storage, path: connection.store.configuration.path, type: table.schema.name)
    }

    var isInvalidated: Bool {
        if connection.isOver { return true }
        connection.checkScheduler()
        if connection.currentRow(table, id) != nil { return false }
        connection.noteFailedReads()
        return true
    }

    func write<Value: StorableValue>(_ value: Value, _ ordinal: Int) {
        let column = table.layout.column(ordinal)
        connection.update(table, id, column) { row in value._write(row, column) }
    }
}
