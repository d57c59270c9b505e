// Observing one property of one object, synchronously, in the manner of key-value observation.

/// What the observer of a single property wants.
public struct PropertyOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Have the value after the change in `newValue`.
    public static let new = PropertyOptions(rawValue: 1)
    /// Have the value before the change in `oldValue`.
    public static let old = PropertyOptions(rawValue: 2)
    /// Call once at registration, from inside `observe`, with the value there is as the new one.
    public static let initial = PropertyOptions(rawValue: 4)
    /// Call before an own write sets the property, too. What others have written cannot be told before it is there.
    public static let prior = PropertyOptions(rawValue: 8)
}

/// One change of one property.
public struct PropertyUpdate<Value: StorableValue>: Sendable, Equatable {
    /// The property is about to be set; it has its old value still.
    public let isPrior: Bool
    /// A write block of this connection has set it and still runs; false when a delivery, or a write that was cancelled,
    /// has changed it.
    public let isOwnWrite: Bool
    /// With `.old`; nil at the initial call.
    public let oldValue: Value?
    /// With `.new`; nil in a prior call.
    public let newValue: Value?
}

extension LiveObject {
    /// Calls `body` whenever this property changes as this connection sees it, and before whatever changed it goes on:
    /// at every set in a write block of this connection, also to the same value; and in a delivery, before it returns, when
    /// the value has become another one. A write that is cancelled changes back what it had set.
    ///
    /// At a set `body` runs inside the write block, which holds the store's write lock and no other: it may read and
    /// write objects of this connection, but no `write` can begin there, and what takes long keeps other writers waiting. A
    /// set it makes of the property it observes calls it again. After the object's deletion nothing is called.
    ///
    /// On the object's connection. A set of an object that is observed costs a look-up more, and one read of the row.
    /// - Throws: `noScheduler` on a connection that lives for one block, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`.
    public func observe<Value: StorableValue>(
        _ keyPath: KeyPath<Self, Value>, options: PropertyOptions = [.new], file: String = #fileID, line: Int = #line,
        _ body: @escaping (Self, PropertyUpdate<Value>) -> Void
    ) throws -> NotificationToken {
        guard let binding else { throw StoreError.notStored(type: "\(type(of: self))") }
        let (connection, table, id) = (binding.connection, binding.table, binding.id)
        let column = table.layout.column(keyPath)
        var observer: PropertyObserver?
        let token = try connection.observe(binding, (1 << UInt64(column), []), madeAt: "\(file):\(line)") {
            [unowned connection] change in
            if case .change = change { observer?.recheck(connection.newestRow(table, id)) }
        }
        guard let state = token.state as? ObjectToken, let row = connection.newestRow(table, id) else { return token }
        let first = row.value(column, table.schema.columns[column])
        func tell(_ isPrior: Bool, _ isOwn: Bool, _ old: ColumnValue?, _ new: ColumnValue?) {
            func value(_ value: ColumnValue) -> Value { connection.value(value, of: table.schema.place(column)) }
            let oldValue = options.contains(.old) ? old.map(value) : nil
            let newValue = options.contains(.new) ? new.map(value) : nil
            body(self, PropertyUpdate(isPrior: isPrior, isOwnWrite: isOwn, oldValue: oldValue, newValue: newValue))
        }
        let new = PropertyObserver(state, column, known: first, wantsPrior: options.contains(.prior), tell)
        observer = new
        try connection.live().makeObservedCells().add(new)
        if options.contains(.initial) { tell(false, false, nil, first) }
        return token
    }
}
