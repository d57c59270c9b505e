// Where an object is stored. Its number alone does not say so: another store, and another class, give the same number to
// other objects.

/// The store and the class that an object's number belongs to. Any thread.
struct ObjectHome: Sendable {
    let storage: Storage
    /// As the store was opened.
    let path: String
    /// The name of the class, and of its table.
    let type: String
}

extension ObjectHome: Hashable {
    static func == (left: ObjectHome, right: ObjectHome) -> Bool {
        left.storage === right.storage && left.type == right.type
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(storage))
        hasher.combine(type)
    }
}

extension RowBinding {
    var home: ObjectHome {
        ObjectHome(storage: connection.core.storage, path: connection.store.configuration.path, type: table.schema.name)
    }
}

extension Connection {
    /// Refuses an object of another store. One of this store may be another connection's, or frozen.
    @inline(__always)
    func checkIsOfStore(_ binding: RowBinding) throws(StoreError) {
        if binding.connection === self || binding.connection.core.storage === core.storage { return }
        throw otherStore(binding.connection.store.configuration.path)
    }

    /// What is wrong with something of the store at `path` here.
    func otherStore(_ path: String) -> StoreError { .otherStore(path: path, used: store.configuration.path) }
}
