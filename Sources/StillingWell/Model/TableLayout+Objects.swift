// Encoding of objects as rows of their class's table, and columns of key paths.

extension TableLayout {
    func column<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> Int {
        column(ModelLayout.of(Object.self).column(keyPath))
    }

    /// Returns the stored columns that key paths name, as bits.
    func mask<Object: StoredObject>(of keyPaths: [PartialKeyPath<Object>]) -> UInt64 {
        let layout = ModelLayout.of(Object.self)
        return keyPaths.reduce(0) { $0 | 1 << UInt64(column(layout.column($1, acceptsCount: true))) }
    }

    func stored(_ filter: FilterExpression, on connection: Connection) throws(StoreError) -> FilterExpression {
        try stored(filter, in: connection.core.storage, openedAs: connection.store.configuration.path)
    }

    func encode(_ object: StoredObject, into row: RowBuffer) {
        row.reset(columnCount: columnCount)
        let address = object.address
        let steps = ModelLayout.of(type(of: object)).encoding
        for ordinal in steps.indices {
            let step = steps[ordinal]
            if let wrapper = step.wrapper {
                wrapper.write(at: address + step.offset, row, column(ordinal))
            } else {
                row.setSlot(column(ordinal), address.load(fromByteOffset: step.offset, as: UInt64.self))
            }
        }
        for column in hiddenOptionals { row.setNull(column) }
    }
}

extension Storage {
    func table(of type: StoredObject.Type) throws(StoreError) -> Table {
        guard let table = tables[ObjectIdentifier(type)] else { throw .unknownModel(type: "\(type)") }
        return table
    }
}
