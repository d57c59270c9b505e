// Deleting in a write: one object, a sequence of objects, all objects of a class. On the connection's scheduler.

extension Connection {
    /// Deletes an object's row and removes all links to it. Does nothing if the object is already deleted or was never
    /// stored. Inside a write block. O(log n), and O(log n) for each object that links to it and each list element.
    /// - Throws: `notInWrite`, `otherStore` for an object of another store, `frozen`, `diskFull`, `mapFull`;
    ///   `valueTooLong` for a property set before; `damaged` or `storage` if the file cannot be read or written.
    public func delete(_ object: StoredObject) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        guard let binding = object.binding else { return }
        try checkMayDelete(object, binding)
        try delete(binding.table, binding.id, transaction)
    }

    /// Deletes the objects of results, of a list or of any other sequence. If one of them is of another store or
    /// frozen, none is deleted. Inside a write block. Complexity as for each object.
    /// - Throws: what `delete(_:)` of one object throws.
    public func delete(_ objects: some Sequence<some StoredObject>) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        // Collected first, because the sequence may change while rows are deleted.
        var bindings: [RowBinding] = []
        for object in objects {
            guard let binding = object.binding else { continue }
            try checkMayDelete(object, binding)
            bindings.append(binding)
        }
        for binding in bindings { try delete(binding.table, binding.id, transaction) }
    }

    /// Deletes every object of a class, including those added by other connections. Inside a write block. O(n) if they
    /// have no lists, and no list and no object of another class links to them. Otherwise as `delete(_:)` for each.
    /// - Throws: `unknownModel`; otherwise as `delete(_:)` of one object, without `otherStore` and `frozen`.
    public func deleteAll(_ type: StoredObject.Type) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        let table = try table(of: type)
        let start = transaction.entries.count
        defer { for entry in transaction.entries[start...] { noteOwnChange(entry) } }
        try transaction.deleteAll(table)
    }

    /// Deletes every object of all classes in `Store.Configuration.models`. Inside a write block. Complexity as
    /// for each class.
    /// - Throws: as for one class, without `unknownModel`.
    public func deleteAll() throws {
        guard isInWrite else { throw StoreError.notInWrite }
        for type in store.configuration.models { try deleteAll(type) }
    }

    private func checkMayDelete(_ object: StoredObject, _ binding: RowBinding) throws(StoreError) {
        try checkIsOfStore(binding)
        if object.isFrozen { throw .frozen }
    }

    private func delete(_ table: Table, _ id: ObjectID, _ transaction: WriteTransaction) throws(StoreError) {
        // Noted even if another writer has deleted the row first: the rows shown by this connection still change.
        do {
            let start = transaction.entries.count
            defer { for entry in transaction.entries[start...] { noteOwnChange(entry) } }
            try transaction.delete(table, id)
        }
        noteOwnChange(table, id, .delete)
    }
}
