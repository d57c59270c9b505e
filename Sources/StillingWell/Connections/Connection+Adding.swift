// Adding in a write: new objects, and such as are to take the place of what the store has. On the connection's scheduler.

extension Connection {
    /// Stores a new object, which stands for its row from here on, together with all that it leads to. One that is in this
    /// store already stays as it is. Inside a write block.
    /// - Parameter policy: what to do where the store has an object with its primary key. The same goes for objects that it
    ///   leads to and that have a primary key; those without one are added.
    /// - Throws: `duplicatePrimaryKey`, `notInWrite`, `diskFull`; `otherStore` for an object of another store, `frozen`,
    ///   `invalidatedObject` for one that has been deleted; `noPrimaryKey` for a policy that asks for one.
    public func add(_ object: StoredObject, update policy: UpdatePolicy = .error) throws {
        try add(object, AdditionRequest(policy: policy))
    }

    /// Stores several objects as `add` does one. If that fails half-way, those before stay added unless the block throws.
    /// - Throws: as for one.
    public func add(_ objects: some Sequence<some StoredObject>, update policy: UpdatePolicy = .error) throws {
        for object in objects { try add(object, AdditionRequest(policy: policy)) }
    }

    /// Makes an object of the values of its properties, by their names, and stores it. What is not named has its default;
    /// of an object that is updated it stays as it is. Inside a write block.
    ///
    ///     try connection.create(Person.self, value: ["id": 7, "name": "Ada", "tags": ["x"], "friend": ["id": 8]], update: .modified)
    ///
    /// - Parameters:
    ///   - value: of a link an object, or a dictionary to make one of; of a list an array of values, objects or dictionaries.
    ///     nil for an optional property is `NSNull()` or `nil as Any?`. An `Int` will do for a `Double`.
    ///   - policy: as for `add`.
    /// - Throws: `invalidValue` for a name or a value that does not fit, and what `add` throws.
    @discardableResult
    public func create<Object: StoredObject>(
        _ type: Object.Type, value: [String: Any] = [:], update policy: UpdatePolicy = .error
    ) throws -> Object {
        checkScheduler()
        guard isInWrite else { throw StoreError.notInWrite }
        var drafts = Drafts()
        let object = try drafts.make(type, value, "\(type)")
        try add(object, AdditionRequest(policy: policy, given: drafts.given))
        return object as! Object
    }

    func add(_ object: StoredObject, _ request: AdditionRequest) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        if let binding = object.binding {
            try checkIsOfStore(binding)
            if object.isFrozen { throw StoreError.frozen }
            if transaction.row(binding.table, binding.id) != nil { return }
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        let table = try table(of: type(of: object))
        if request.policy == .error, !table.layout.isConnected { return try insert(object, table, transaction) }
        try additions.add(object, table, transaction, self, request)
    }

    func insert(_ object: StoredObject, _ table: Table, _ transaction: WriteTransaction) throws(StoreError) {
        let id = try transaction.insert(table) { table.layout.encode(object, into: $0) }
        object.bind(self, table, id, addedIn: transaction.fate)
        noteOwnChange(table, id, .insert)
    }

    /// Lets an object stand for the row that has its primary key, and the row have its values; those of lists, and links to
    /// what is not stored yet, come later.
    /// - Returns: false where there is no such row.
    func update(
        with object: StoredObject, _ table: Table, _ transaction: WriteTransaction, _ request: AdditionRequest
    ) throws(StoreError) -> Bool {
        guard let key = table.schema.primaryKey else { return false }
        let wanted = RowBuffer()
        table.layout.encode(object, into: wanted)
        let found = transaction.find(table, primaryKey: wanted.reader.value(key, table.schema.columns[key]))
        guard let id = found, let row = transaction.row(table, id) else {
            try transaction.checkReads()
            return false
        }
        // Before the first change, which ends what was read.
        let differing =
            request.policy == .all ? UInt64.max : wanted.reader.columns(differingFrom: row, table.schema)
        for (ordinal, property) in ModelLayout.of(type(of: object)).properties.enumerated() {
            let column = table.layout.column(ordinal)
            let place = object.address + property.offset
            guard column != key, property.type != .list, differing & 1 << UInt64(column) != 0,
                request.names(ordinal, of: object)
            else { continue }
            let link = (property.wrapper as? any AnyConnected.Type)?.linked(at: place)
            if let (target, _) = link, target.binding == nil { continue }
            try transaction.update(table, id, column) { property.wrapper.write(at: place, $0, column) }
        }
        object.bind(self, table, id, addedIn: transaction.fate)
        noteOwnChange(table, id, .update)
        return true
    }
}
