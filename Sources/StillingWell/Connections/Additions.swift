// Adds objects together with the objects that they link to. Belongs to a connection and is used by the write in
// progress.
import StillingWellBasis

final class Additions {
    /// An object whose links are being followed.
    private struct Step {
        let object: StoredObject
        let table: Table
        var next = 0
    }

    /// Chain of objects from the one being added along links. Kept on the heap because chains can exceed the stack
    /// depth.
    private var path: [Step] = []
    private var pending: Set<ObjectIdentifier> = []
    /// Objects whose rows are inserted or updated, but whose lists, and links on cycles, are not.
    private var unfinished: [(object: StoredObject, isUpdate: Bool)] = []
    /// Request of the outermost `add` while it adds list elements and links on cycles, otherwise nil.
    private(set) var request: AdditionRequest?
    /// Values of an object, encoded as a row, by which a stored row is found and updated.
    let wanted = RowBuffer()
    /// Objects that `addLinked` has stored in this write. They still hold the values that they had before.
    private var added: [StoredObject] = []

    /// Adds an object and the objects that it links to. If this fails after the first change, the commit fails too.
    func add(
        _ object: StoredObject, _ table: Table, _ transaction: WriteTransaction, _ connection: Connection,
        _ request: AdditionRequest
    ) throws {
        if request.policy != .error, table.schema.primaryKey == nil, self.request == nil {
            throw StoreError.noPrimaryKey(table: table.schema.name)
        }
        let changes = transaction.entries.count
        do {
            try addLinked(object, table, transaction, connection, request)
        } catch {
            path.removeAll(keepingCapacity: true)
            pending.removeAll(keepingCapacity: true)
            if transaction.entries.count > changes { connection.failWrite(error) }
            throw error
        }
        // `finishAdding` below calls this again for list elements. They join `unfinished` and are finished by the
        // outermost call.
        if self.request != nil { return }
        self.request = request
        defer { self.request = nil }
        while let (object, isUpdate) = unfinished.popLast() {
            for property in ModelLayout.of(type(of: object)).connected
            where !isUpdate || request.names(property.ordinal, of: object) {
                do {
                    try property.wrapper.finishAdding(
                        at: object.address + property.offset, object, property.ordinal,
                        replacing: isUpdate ? request.policy : nil)
                } catch {
                    connection.failWrite(error)
                    throw error
                }
            }
        }
    }

    /// Inserts or updates the rows of an object and of the link targets that are not stored yet, targets first. A link
    /// that closes a cycle is set later, by `finishAdding`.
    private func addLinked(
        _ object: StoredObject, _ table: Table, _ transaction: WriteTransaction, _ connection: Connection,
        _ request: AdditionRequest
    ) throws {
        begin(object, table)
        while let step = path.last {
            let connected = ModelLayout.of(type(of: step.object)).connected
            guard step.next < connected.count else {
                path.removeLast()
                pending.remove(ObjectIdentifier(step.object))
                var isUpdate = false
                if request.policy != .error {
                    isUpdate = try connection.update(with: step.object, step.table, transaction, request)
                }
                if !isUpdate { try connection.insert(step.object, step.table, transaction) }
                added.append(step.object)
                unfinished.append((step.object, isUpdate))
                continue
            }
            path[path.count - 1].next += 1
            let property = connected[step.next]
            guard let (target, type) = property.wrapper.linked(at: step.object.address + property.offset) else {
                continue
            }
            if target.binding != nil {
                _ = try connection.resolve(target, as: type)
            } else if !pending.contains(ObjectIdentifier(target)) {
                try connection.check(target, is: type)
                begin(target, try connection.table(of: type))
            }
        }
    }

    private func begin(_ object: StoredObject, _ table: Table) {
        path.append(Step(object: object, table: table))
        pending.insert(ObjectIdentifier(object))
    }

    /// Forgets the objects of a write that has ended. Those that are stored release the values that they had before,
    /// which may form reference cycles.
    func end(isStored: Bool) {
        guard !added.isEmpty else { return }
        if isStored {
            // Objects of a cancelled part of the write are plain again and keep their values.
            for object in added where object.binding != nil { object.forgetPlainValues() }
        }
        added = []
        unfinished = []
    }
}

extension Connection {
    /// Returns the id to store in a link to `object`, adding the object first if it is not stored. Inside a write.
    /// - Parameter type: class that the link leads to.
    /// - Throws: `otherStore`, `otherClass`, `otherConnection`, `invalidatedObject`, and errors of `add`.
    func resolve(_ object: StoredObject, as type: StoredObject.Type) throws -> ObjectID {
        checkScheduler()
        guard let transaction else { stopProgram("\(StoreError.notInWrite)") }
        try check(object, is: type)
        if object.binding == nil { try add(object, additions.request ?? AdditionRequest()) }
        guard let binding = object.binding else { throw StoreError.notStored(type: "\(type)") }
        try checkIsOfStore(binding)
        guard binding.connection === self else { throw StoreError.otherConnection(type: "\(type)") }
        guard transaction.row(binding.table, binding.id) != nil else {
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        return binding.id
    }

    /// Throws `otherClass` if `object` is not exactly of class `type`. A subclass has a table of its own.
    func check(_ object: StoredObject, is type: StoredObject.Type) throws(StoreError) {
        guard Swift.type(of: object) == type else {
            throw .otherClass(type: "\(Swift.type(of: object))", expected: "\(type)")
        }
    }

    /// Throws `otherStore` for an object of another store. Accepts objects of other connections and frozen ones.
    @inline(__always)
    func checkIsOfStore(_ binding: RowBinding) throws(StoreError) {
        if binding.connection === self || binding.connection.core.storage === core.storage { return }
        throw otherStore(binding.connection.store.configuration.path)
    }

    /// Returns the error for using something of the store at `path` in this store.
    func otherStore(_ path: String) -> StoreError { .otherStore(path: path, used: store.configuration.path) }
}
