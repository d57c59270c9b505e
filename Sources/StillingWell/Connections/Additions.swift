// Adding objects that lead to others, in whatever order their links ask for. Belongs to a connection, and is used by the
// write in progress.
import StillingWellBasis

final class Additions {
    /// An object that is being added, once all it links to is.
    private struct Step {
        let object: StoredObject
        let table: Table
        var next = 0
    }

    /// From the object that is being added to one that a link leads to, and so on: objects may be linked in chains that are
    /// longer than a stack is deep.
    private var path: [Step] = []
    private var pending: Set<ObjectIdentifier> = []
    /// Those whose rows are there, but not yet all that leads from them.
    private var unfinished: [(object: StoredObject, isUpdate: Bool)] = []
    /// How the object is added that leads to all others; nil while none is.
    private(set) var request: AdditionRequest?
    /// Added in this write, with plain values of their own still.
    private var added: [StoredObject] = []

    /// Adds an object with what it leads to. If that fails half-way, so will the commit.
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
        // The elements of lists come here too: they wait for their turn.
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

    /// Stores the rows of an object and of all that its links lead to, these first. A link on a cycle is set later.
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

    /// The write is over. Stored objects let go of their plain values, which may hold each other.
    func end(isStored: Bool) {
        guard !added.isEmpty else { return }
        if isStored {
            // Of a part of the write that was cancelled, they are all there is.
            for object in added where object.binding != nil { object.forgetPlainValues() }
        }
        added = []
        unfinished = []
    }
}

extension Connection {
    /// The id to link an object by, which is added if it is not stored. Inside a write.
    /// - Parameter type: the class that links of this kind lead to.
    /// - Throws: `otherStore`, `otherClass`, `otherConnection`, `invalidatedObject`, and what `add` throws.
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

    /// Refuses an object of a subclass: it is a row of another table.
    func check(_ object: StoredObject, is type: StoredObject.Type) throws(StoreError) {
        guard Swift.type(of: object) == type else {
            throw .otherClass(type: "\(Swift.type(of: object))", expected: "\(type)")
        }
    }

    /// Refuses an object of another store. One of this store may be another connection's, or frozen.
    @inline(__always)
    func checkIsOfStore(_ binding: RowBinding) throws(StoreError) {
        if binding.connection === self || binding.connection.core.storage === core.storage { return }
        throw otherStore(binding.connection.store.configuration.path)
    }

    /// What is wrong with something of the store at `path` here.
    func otherStore(_ path: String) -> StoreError { .otherStore(path: path, used: store.configuration.path) }
}
