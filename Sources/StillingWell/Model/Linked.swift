// `@Linked`, a property that links to one object or to none. The row holds the target's id, and every link column has
// an index for the reverse direction. An object that is not stored holds the target itself.

/// Declares a property that links to one other object.
///
///     final class Dog: StoredObject {
///         @Linked var owner: Person?
///     }
///
/// Deleting the target sets the link to nil. Setting a link of a stored object to one that is not stored adds that one
/// too. A target of another connection or store makes the write fail. Links may form cycles.
@propertyWrapper
public struct Linked<Target: StoredObject> {
    var ordinal: Int32 = -1
    var value: Target?

    /// Makes a link to `wrappedValue`.
    public init(wrappedValue: Target? = nil) { value = wrappedValue }

    @available(*, unavailable, message: "@Linked works in subclasses of StoredObject only")
    public var wrappedValue: Target? {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Target?>,
        storage storage: ReferenceWritableKeyPath<Owner, Linked<Target>>
    ) -> Target? {
        get {
            let ordinal = Int(owner[keyPath: storage].ordinal)
            if let place = owner.place(of: ordinal) { return owner.target(place.row, place.column) }
            if let trace = owner.trace { return trace.follow(owner, ordinal, wrapped, to: Target.self) }
            return owner[keyPath: storage].value
        }
        set {
            if let binding = owner.binding {
                binding.writeLink(newValue, Int(owner[keyPath: storage].ordinal), as: Target.self)
            } else {
                owner[keyPath: storage].value = newValue
            }
        }
    }
}

extension Linked: AnyConnected {
    static var ordinalOffset: Int { MemoryLayout<Self>.offset(of: \.ordinal)! }
    static var columnType: ColumnType { .link }
    static var isOptional: Bool { true }
    static var target: StoredObject.Type? { Target.self }

    private static func property(_ address: UnsafeRawPointer) -> Self {
        address.assumingMemoryBound(to: Self.self).pointee
    }

    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int) {
        row.setLink(column, property(address).value?.binding?.id)
    }

    static func linked(at address: UnsafeRawPointer) -> (StoredObject, StoredObject.Type)? {
        property(address).value.map { ($0, Target.self) }
    }

    static func hold(at address: UnsafeRawPointer, in held: inout [StoredObject]) {
        if let target = property(address).value { held.append(target) }
    }

    static func assign(
        _ value: Any, at address: UnsafeMutableRawPointer, _ place: String, _ make: MakeObject
    ) throws(StoreError) {
        let target = isNil(value) ? nil : try make(Target.self, value, place)
        address.assumingMemoryBound(to: Self.self).pointee.value = target.map { $0 as! Target }
    }

    static func element(of value: Any, _ place: String, _ make: MakeObject) throws(StoreError) -> Any {
        try make(Target.self, value, place)
    }

    static func finishAdding(
        at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int, replacing policy: UpdatePolicy?
    ) throws {
        guard let target = property(address).value, let binding = owner.binding else { return }
        let column = binding.table.layout.column(ordinal)
        guard let row = binding.connection.currentRow(binding.table, binding.id),
            row.isNull(column) || target.binding.map({ $0.id.rawValue != row.slot(column) }) ?? true
        else { return }
        binding.writeLink(target, ordinal, as: Target.self)
    }

    static func forget(at address: UnsafeMutableRawPointer) {
        address.assumingMemoryBound(to: Self.self).pointee.value = nil
    }
}

extension StoredObject {
    fileprivate func target<Target: StoredObject>(_ row: RowReader?, _ column: Int) -> Target? {
        guard let binding, let row, !row.isNull(column), let target = binding.table.links?.edge(column)?.target,
            let table = binding.connection.core.storage.tablesByID[target]
        else { return nil }
        return binding.connection.makeObject(table, ObjectID(rawValue: row.slot(column)))
    }
}

extension RowBinding {
    func writeLink(_ target: StoredObject?, _ ordinal: Int, as type: StoredObject.Type) {
        connection.checkScheduler()
        let column = table.layout.column(ordinal)
        var targetID: ObjectID?
        if let target {
            do {
                targetID = try connection.resolve(target, as: type)
            } catch {
                connection.failWrite(error)
                return
            }
        }
        connection.update(table, id, column) { $0.setLink(column, targetID) }
    }
}

extension RowBuffer {
    fileprivate func setLink(_ column: Int, _ target: ObjectID?) {
        if let target { setSlot(column, target.rawValue) } else { setNull(column) }
    }
}
