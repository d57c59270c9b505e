// Which store an object is of, and whether it is a connection's own.

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

extension TableLayout {
    /// As `stored(_:in:openedAs:)`, for a query of a connection.
    func stored(_ filter: FilterExpression, on connection: Connection) throws(StoreError) -> FilterExpression {
        try stored(filter, in: connection.core.storage, openedAs: connection.store.configuration.path)
    }
}
