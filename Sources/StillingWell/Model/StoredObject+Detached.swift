// Copies of objects that belong to no store.

extension LiveObject {
    /// Returns a plain copy with the values that this object shows now. The copy belongs to no connection: it may leave
    /// the block, the actor and the thread, and it stays as it is when the row changes.
    ///
    ///     let note = try await store.read { try $0.object(Note.self, forPrimaryKey: id)?.detached() }
    ///
    /// Lists of values are copied. Links are nil and lists of objects empty, so adding the copy with
    /// `update: .modified` or `.all` clears those of the stored object; to keep them, set properties of the stored
    /// object instead. Properties that are not stored have their declared values. On the connection's scheduler.
    /// - Throws: `invalidatedObject` if the object was deleted or the block of its connection has ended; `storage` or
    ///   `damaged` if the row, or one read on the connection before, cannot be read.
    public func detached() throws -> sending Self {
        if isInvalidated {
            throw StoreError.invalidatedObject(table: binding?.table.schema.name ?? "\(type(of: self))")
        }
        let layout = ModelLayout.of(type(of: self))
        let values = layout.properties.map { $0.wrapper.value(of: self, at: $0.offset) }
        try connection?.checkReads()
        let copy = Self.plain(type(of: self))
        for (property, value) in zip(layout.properties, values) {
            guard let value else { continue }
            try property.wrapper.assign(
                value, at: copy.address + property.offset, "\(layout.typeName).\(property.name)"
            ) { (_, _, place) throws(StoreError) in
                throw .invalidValue(property: place, reason: "a copy has no links")
            }
        }
        return copy
    }

    private static func plain(_ type: Self.Type) -> sending Self { type.init() }
}
