// The base class of models, and the binding of an object to its row. An object belongs to one connection and is used
// where that connection is.

/// The superclass of everything that can be stored. Subclasses give every `@Stored` property a default value.
///
/// An object is a plain one until it is added to a store; from then on, or when it was read from a store, its
/// properties read and write the row. Not Sendable: use it on its connection's thread or queue.
open class StoredObject {
    private var row: RowBinding?
    /// Set while the object stands for a row. One that was added in a write that was cancelled is a plain object again:
    /// its row's number may be somebody else's by now.
    var binding: RowBinding? {
        get { row?.addedIn?.isCancelled == true ? nil : row }
        set {
            row = newValue
            found = nil
        }
    }
    /// Where the row was found last, and the connection's `rowEpoch` then: in another one it may lie elsewhere, or say
    /// something else.
    private var found: (row: RowReader, epoch: Int)?
    /// Set while a key path is being resolved to a column.
    var trace: AccessTrace?

    /// A plain object, in no store yet.
    public required init() { ModelLayout.of(type(of: self)).prepare(address) }

    deinit {
        // What was read from a store keeps nothing alive.
        if row != nil, row!.addedIn == nil { return }
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

    /// The row as properties read it, and the column of a property; nil of a plain object. Outside of a write the row is
    /// looked up once per version: O(log n), then O(1).
    @inline(__always)
    final func place(of ordinal: Int) -> (row: RowReader?, column: Int)? {
        guard let row, row.addedIn == nil || !row.addedIn!.isCancelled else { return nil }
        row.connection.checkScheduler()
        let column = row.table.layout.column(ordinal)
        if row.table.layout.isObservable { row.connection.noteRead(row.table, row.id, column) }
        if let found, found.epoch == row.connection.rowEpoch { return (found.row, column) }
        return (find(row), column)
    }

    private func find(_ binding: RowBinding) -> RowReader? {
        let connection = binding.connection
        if connection.transaction == nil, let row = connection.shown?.row(binding.table, binding.id) {
            found = (row, connection.rowEpoch)
            return row
        }
        return connection.rowForGetter(binding.table, binding.id)
    }

    /// Takes over where a scan has found the row.
    final func noteFound(_ row: RowReader, _ epoch: Int) { found = (row, epoch) }

    /// Whether the properties are the object's own: it stands for no row, and is not being traced.
    @usableFromInline
    final var isPlain: Bool { row == nil && trace == nil }

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
    /// The write that added the object itself, rather than one that was read.
    var addedIn: WriteTransaction.Fate?
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
