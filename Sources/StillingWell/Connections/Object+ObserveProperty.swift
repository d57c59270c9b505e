// Observing one property of one object synchronously, as key-value observation does.

/// Options of a property observer.
public struct PropertyOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Report the value after the change in `newValue`.
    public static let new = PropertyOptions(rawValue: 1)
    /// Report the previous value in `oldValue`.
    public static let old = PropertyOptions(rawValue: 2)
    /// Call once during `observe`, with the current value as `newValue` if `.new` is set too.
    public static let initial = PropertyOptions(rawValue: 4)
    /// Also call before an own write sets the property. Other writers' changes are reported afterwards only.
    public static let prior = PropertyOptions(rawValue: 8)
}

/// One change of one property.
public struct PropertyUpdate<Value: StorableValue>: Sendable, Equatable {
    /// Whether the property is about to be set and still has its old value.
    public let isPrior: Bool
    /// Whether a setter in a write of this connection makes the call. False in the initial call, and if a delivery or a
    /// cancelled write has changed the property.
    public let isOwnWrite: Bool
    /// Value at the previous call, or at `observe` if there was none, with `.old`. nil in the initial call.
    public let oldValue: Value?
    /// Value after the change, with `.new`. nil in a prior call.
    public let newValue: Value?
}

extension LiveObject {
    /// Calls `body` when this connection's value of the property changes. Setters call it at every set, also to an
    /// equal value. Deliveries call it if the value differs, also for own changes without a setter, such as
    /// `add(_:update:)`. A cancelled write calls it for the value that is restored.
    ///
    /// At a set, `body` runs inside the write block, which holds the store's write lock. It may read and write objects
    /// of this connection but cannot begin a write, and other writers wait for it. If it sets the observed property it
    /// is called again. Deliveries do not call it after the object's deletion.
    ///
    /// On the object's connection.
    /// - Throws: `noScheduler` on a connection without a delivery context, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`, `openedBeforeFork`; `damaged` or `storage` if the row cannot be read.
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
