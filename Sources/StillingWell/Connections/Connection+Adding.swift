// Adding objects in a write: inserting new ones and updating existing ones by primary key. On the connection's
// scheduler.

extension Connection {
    /// Stores a new object together with all objects that it links to. From then on the object stands for its row. An
    /// object that is already in this store stays as it is. Inside a write block.
    /// - Parameter policy: what to do if the store has an object with the same primary key. Applies to linked objects
    ///   with a primary key too; those without one are added.
    /// - Throws: `duplicatePrimaryKey`, `notInWrite`, `unknownModel`, `primaryKeyTooLong`, `valueTooLong`, `diskFull`,
    ///   `mapFull`; `otherStore` for an object of another store; `frozen`; `invalidatedObject` for a deleted object;
    ///   `noPrimaryKey` if `policy` requires a key and the class has none; `otherConnection` and `otherClass` for a
    ///   linked object; `damaged` or `storage` if the file cannot be read or written.
    public func add(_ object: StoredObject, update policy: UpdatePolicy = .error) throws {
        try add(object, AdditionRequest(policy: policy))
    }

    /// Stores several objects as `add(_:update:)` stores one. If one fails, those before it stay added unless the block
    /// throws or the commit fails.
    /// - Throws: what `add(_:update:)` of one object throws.
    public func add(_ objects: some Sequence<some StoredObject>, update policy: UpdatePolicy = .error) throws {
        for object in objects { try add(object, AdditionRequest(policy: policy)) }
    }

    /// Creates an object from property values, by property name, and stores it. Properties that are not named get their
    /// default value; in an object that is updated they keep their value. Inside a write block.
    ///
    ///     try connection.create(Person.self, value: ["id": 7, "name": "Ada", "tags": ["x"], "friend": ["id": 8]], update: .modified)
    ///
    /// - Parameters:
    ///   - value: values by property name. A link takes an object, or a dictionary to create one from. A list takes an
    ///     array of values, objects or dictionaries. nil is `NSNull()` or `nil as Any?`. A `Double` property accepts an
    ///     `Int`.
    ///   - policy: as for `add`.
    /// - Throws: `invalidValue` for an unknown name or a value of the wrong type, and what `add` throws.
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
        if table.layout.isConnected { return try additions.add(object, table, transaction, self, request) }
        if request.policy == .error { return try insert(object, table, transaction) }
        // An object without links and lists needs no walk. An added list element may have no primary key.
        if table.schema.primaryKey == nil, additions.request == nil {
            throw StoreError.noPrimaryKey(table: table.schema.name)
        }
        let changes = transaction.entries.count
        do throws(StoreError) {
            if try !update(with: object, table, transaction, request) { try insert(object, table, transaction) }
        } catch {
            if transaction.entries.count > changes { failWrite(error) }
            throw error
        }
    }

    func insert(_ object: StoredObject, _ table: Table, _ transaction: WriteTransaction) throws(StoreError) {
        let id = try transaction.insert(table) { table.layout.encode(object, into: $0) }
        object.bind(self, table, id, addedIn: transaction.fate)
        noteOwnChange(table, id, .insert)
    }

    /// Binds an object to the row that has its primary key and writes the object's values to the row as the request's
    /// policy says. List values, and links to objects that are not stored yet, are written later.
    /// - Returns: false if there is no such row, or the class has no primary key.
    func update(
        with object: StoredObject, _ table: Table, _ transaction: WriteTransaction, _ request: AdditionRequest
    ) throws(StoreError) -> Bool {
        guard let key = table.schema.primaryKey else { return false }
        let wanted = additions.wanted
        table.layout.encode(object, into: wanted)
        guard let id = transaction.find(table, primaryKeyOf: wanted.reader, key), let row = transaction.row(table, id)
        else {
            try transaction.checkReads()
            return false
        }
        // Computed before the first change, which invalidates the reader of the found row.
        var differing = request.policy == .all ? .max : wanted.reader.columns(differingFrom: row, table.schema)
        differing &= ~table.layout.listColumns
        let layout = ModelLayout.of(type(of: object))
        for (ordinal, property) in (differing == 0 ? [] : layout.properties).enumerated() {
            let column = table.layout.column(ordinal)
            guard column != key, differing & 1 << UInt64(column) != 0,
                request.names(ordinal, of: object)
            else { continue }
            let link = property.connected?.linked(at: object.address + property.offset)
            if let (target, _) = link, target.binding == nil { continue }
            let value = object.address + layout.encoding[ordinal].offset
            try transaction.update(table, id, column) { property.wrapper.write(at: value, $0, column) }
        }
        object.bind(self, table, id, addedIn: transaction.fate)
        noteOwnChange(table, id, .update)
        return true
    }
}
