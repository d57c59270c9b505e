// The base class of models, and the binding of an object to its row. A stored object belongs to one connection and is
// used on its scheduler.
import StillingWellBasis

/// The superclass of all models. Subclasses give every `@Stored` property a default value.
///
/// A new object is *plain*: it belongs to no store and holds its own values. Once it is added to a store, or if it was
/// read from one, its properties read and write its row. Not Sendable: use it on its connection's scheduler.
open class StoredObject {
    /// State of an object that stands for a row.
    private struct State {
        /// The connection of the row, or nil for a plain object. Counted by hand, once per object: the compiler would
        /// count it at each read of a property.
        var home: Unmanaged<Connection>?
        /// The row's table. Not counted: the connection's store keeps its tables.
        var table: Unmanaged<Table>?
        var row = ObjectID.none
        var isAdded = false
        /// Whether each property is in the column of its ordinal and reads need no tracking.
        var isDirect = false
        /// Row found last, and the connection's `rowEpoch` then. In another epoch it is invalid.
        var found: (row: RowReader, epoch: Int)?
    }

    /// One field, because the layout of each subclass resolves the types of all inherited fields. No part of it is
    /// counted, because the compiler would copy the whole to read one part.
    private var state = State()
    /// Outcome of the write in which the object was added, or of the write that made its row, if the object was read in
    /// that write.
    private var fate: WriteTransaction.Fate?
    /// Set while a key path is being resolved to a column.
    var trace: AccessTrace?

    /// Binding while the object stands for a row. nil for a plain object, also if its addition was cancelled: the row's
    /// id may have been reused.
    var binding: RowBinding? {
        guard let home = state.home, let table = state.table, !(state.isAdded && fate?.isCancelled == true) else {
            return nil
        }
        return RowBinding(
            connection: home.takeUnretainedValue(), table: table.takeUnretainedValue(), row: state.row,
            seenIn: state.isAdded ? nil : fate)
    }

    /// Makes a plain object.
    public required init() { ModelLayout.prepare(address, of: type(of: self)) }

    deinit {
        if let home = state.home {
            home.release()
            // An object that was read from a store holds no plain values.
            if !state.isAdded { return }
        }
        var held: [StoredObject] = []
        hold(in: &held)
        if held.isEmpty { return }
        forgetPlainValues()
        // Link targets are collected here instead of being released recursively, because chains may exceed the stack
        // depth.
        while var object = held.popLast() {
            if isKnownUniquelyReferenced(&object) { object.hold(in: &held) }
        }
    }

    /// Binds a new object to a row.
    /// - Parameter seenIn: outcome of the write in progress, if that has made the row.
    @inline(__always)
    final func bind(_ connection: Connection, _ table: Table, _ row: ObjectID, seenIn: WriteTransaction.Fate?) {
        // Found out first: a call between the assignments would make the compiler count `seenIn` once more.
        let isDirect = table.layout.isDirect && !table.layout.isObservable
        state = State(
            home: .passRetained(connection), table: .passUnretained(table), row: row, isDirect: isDirect)
        fate = seenIn
    }

    /// Binds the object to another row of its table. Not for objects of rows made in the write in progress.
    /// - Parameter found: the row and its `rowEpoch`, if known.
    @inline(__always)
    final func rebind(_ row: ObjectID, found: (row: RowReader, epoch: Int)?) {
        state.row = row
        state.found = found
    }

    /// Whether there are no weak or unowned references to the object.
    @inline(__always)
    final var isUnwatched: Bool { _getWeakRetainCount(self) == 1 && _getUnownedRetainCount(self) == 1 }

    /// Binds a plain object to the row that it was added as.
    final func bind(_ connection: Connection, _ table: Table, _ row: ObjectID, addedIn fate: WriteTransaction.Fate) {
        // Set if an earlier addition was cancelled.
        state.home?.release()
        bind(connection, table, row, seenIn: fate)
        state.isAdded = true
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

    /// Returns the row as properties read it, or nil if `place(of:)` has to be asked.
    @usableFromInline
    final func knownRow() -> RowReader? {
        guard state.isDirect, let home = state.home, fate == nil else { return nil }
        return home._withUnsafeGuaranteedRef { connection in
            connection.checkPlace()
            if let found = state.found, found.epoch == connection.rowEpoch { return found.row }
            return find(connection)
        }
    }

    /// Finds the row and caches it. Returns nil during a write, or if there is no row. O(log n).
    @inline(never)
    private func find(_ connection: Connection) -> RowReader? {
        // A row read in a cancelled write is excluded, because its id may have been reused.
        guard connection.transaction == nil, fate?.isCancelled != true, let table = state.table,
            let shown = connection.shown
        else {
            return nil
        }
        let known = table._withUnsafeGuaranteedRef { shown.row($0, state.row) }
        state.found = known.map { ($0, connection.rowEpoch) }
        return known
    }

    /// Returns the row as properties read it and the column of a property. nil for a plain object.
    final func place(of ordinal: Int) -> (row: RowReader?, column: Int)? {
        guard let binding else { return nil }
        let (connection, table) = (binding.connection, binding.table)
        connection.checkScheduler()
        let column = table.layout.column(ordinal)
        if table.layout.isObservable { connection.noteRead(table, binding.id, column) }
        if let found = state.found, found.epoch == connection.rowEpoch { return (found.row, column) }
        return (find(connection) ?? connection.rowForGetter(table, binding.id), column)
    }

    @inline(__always)
    final func noteFound(_ row: RowReader, _ epoch: Int) { state.found = (row, epoch) }

    /// Whether the object was never bound to a row, and is not being traced.
    @usableFromInline
    final var isPlain: Bool { state.home == nil && trace == nil }

    /// Address of the instance, valid while it is referenced.
    var address: UnsafeMutableRawPointer { ObjectPointer.borrowed(self) }

    /// Id of the row. nil for an object that is not stored.
    public var objectID: ObjectID? { binding?.id }

    /// Whether the row is deleted in the version that properties are read at, or the block of the connection has ended.
    /// False for a plain object.
    public var isInvalidated: Bool { binding?.isInvalidated ?? false }

    /// Connection of this object. nil for a plain object.
    public var connection: Connection? { binding?.connection }
}

struct RowBinding {
    let connection: Connection
    let table: Table
    let row: ObjectID
    /// Outcome of the write in progress that made the row, if the object was read in it. If it is cancelled, the object
    /// stands for nothing, because the next write reuses the id.
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
