// Adding objects that lead to others, in whatever order their links ask for. Belongs to a connection, and is used by the
// write in progress.

final class Additions {
    /// Objects whose rows are not there yet, because what they lead to is added first.
    private var pending: Set<ObjectIdentifier> = []
    /// Those whose rows are there, but not yet all that leads from them.
    private var unfinished: [(object: StoredObject, layout: ModelLayout)] = []
    /// Added in this write, with plain values of their own still.
    private var added: [StoredObject] = []

    func isPending(_ object: StoredObject) -> Bool { pending.contains(ObjectIdentifier(object)) }

    /// Adds an object with what it leads to. If that fails half-way, so will the commit.
    func add(
        _ object: StoredObject, _ table: Table, _ transaction: WriteTransaction, _ connection: Connection
    ) throws {
        let changes = transaction.entries.count
        let key = ObjectIdentifier(object)
        do {
            pending.insert(key)
            defer { pending.remove(key) }
            for property in table.layout.connected {
                try property.wrapper.prepareToAdd(at: object.address + property.offset, connection)
            }
            try connection.insert(object, table, transaction)
            added.append(object)
            unfinished.append((object, table.layout))
        } catch {
            if transaction.entries.count > changes { connection.failWrite(error) }
            throw error
        }
        // What is on a cycle is there once the object is that was added first.
        if !pending.isEmpty { return }
        while let (object, layout) = unfinished.popLast() {
            for property in layout.connected {
                do {
                    try property.wrapper.finishAdding(at: object.address + property.offset, object, property.ordinal)
                } catch {
                    connection.failWrite(error)
                    throw error
                }
            }
        }
    }

    /// The write is over. Stored objects let go of their plain values, which may hold each other.
    func end(isStored: Bool) {
        guard !added.isEmpty else { return }
        if isStored {
            // Of a part of the write that was cancelled, they are all there is.
            for object in added where object.binding != nil {
                for property in ModelLayout.of(type(of: object)).connected {
                    property.wrapper.forget(at: object.address + property.offset)
                }
            }
        }
        added = []
        unfinished = []
    }
}

extension Connection {
    /// The id to link an object by, which is added if it is not stored. Inside a write.
    /// - Throws: `otherConnection`, `invalidatedObject`, and what `add` throws.
    func resolve(_ object: StoredObject) throws -> ObjectID {
        checkScheduler()
        guard let transaction else { preconditionFailure("\(StoreError.notInWrite)") }
        if object.binding == nil { try add(object) }
        guard let binding = object.binding, binding.connection === self else {
            throw StoreError.otherConnection(type: "\(type(of: object))")
        }
        guard transaction.row(binding.table, binding.id) != nil else {
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        return binding.id
    }
}
