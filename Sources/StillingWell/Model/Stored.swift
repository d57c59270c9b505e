// `@Stored`, a property wrapper that reads and writes one column of its object's row. An object that is not stored
// holds the value here. `StoredObject.init` sets `ordinal` from the class's layout.
//
// Accessing a key path costs more than the rest of a set. So the wrapper's offset is cached per key path, and the code
// for objects that are not stored is inlined into the program.
import Foundation

/// Makes a property of a `StoredObject` subclass persistent.
///
///     final class Item: StoredObject {
///         @Stored(.primaryKey) var id = UUID()
///         @Stored var score = 0
///     }
///
/// Reading the property of a stored object reads its row. Writing it requires a write block. On the object's connection
/// only. O(log n) in the rows of the table.
@propertyWrapper
public struct Stored<Value: StorableValue> {
    /// Ordinal of the property among the stored properties of its class.
    @usableFromInline var ordinal: Int32 = -1
    /// nil for a property without a role.
    let role: StoredRole?
    @usableFromInline var value: Value

    /// Makes a property, which may have a role, such as primary key.
    public init(wrappedValue: Value, _ role: StoredRole? = nil) {
        self.role = role
        value = wrappedValue
    }

    @available(*, unavailable, message: "@Stored works in subclasses of StoredObject only")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    @inlinable
    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Stored<Value>>
    ) -> Value {
        // Inlined without a surrounding closure. Otherwise the compiler makes the key path `wrapped` at each read, even
        // if unused.
        @inline(__always) get {
            let property = property(owner, storage)
            defer { withExtendedLifetime(owner) {} }
            if let row = owner.knownRow() { return property.pointee.read(row, owner) }
            return owner.isPlain ? property.pointee.value : property.pointee.read(owner, wrapped)
        }
        set {
            let property = property(owner, storage)
            withExtendedLifetime(owner) {
                if owner.isPlain { property.pointee.value = newValue } else { property.pointee.write(newValue, owner) }
            }
        }
    }

    /// Returns the address of the wrapper. Valid while `owner` is referenced.
    @inlinable
    static func property<Owner: StoredObject>(
        _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> UnsafeMutablePointer<Self> {
        (owner.knownPlace(of: storage) ?? findPlace(owner, storage)).assumingMemoryBound(to: Self.self)
    }

    @usableFromInline
    static func findPlace<Owner: StoredObject>(
        _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> UnsafeMutableRawPointer {
        let place = withUnsafeMutablePointer(to: &owner[keyPath: storage]) { UnsafeMutableRawPointer($0) }
        owner.notePlace(place, of: storage)
        return place
    }

    /// Returns the value in a row whose columns are the class's properties in order.
    @inlinable @inline(__always)
    func read(_ row: RowReader, _ owner: StoredObject) -> Value {
        do throws(UnknownValue) {
            return try Value._read(row, Int(ordinal))
        } catch {
            return unknown(error, owner)
        }
    }

    /// - Parameter keyPath: key path of the property. Making it costs a call, so only a trace evaluates it.
    @usableFromInline
    func read(_ owner: StoredObject, _ keyPath: @autoclosure () -> AnyKeyPath) -> Value {
        if let place = owner.place(of: Int(ordinal)) {
            guard let row = place.row else { return none }
            do throws(UnknownValue) {
                return try Value._read(row, place.column)
            } catch {
                return unknown(error, owner)
            }
        }
        guard let trace = owner.trace else { return value }
        trace.note(owner, Int(ordinal), keyPath())
        // In two steps: with an optional `Value`, a missing sample would be cast to nil.
        guard let sample = trace.sample else { return value }
        return sample as? Value ?? value
    }

    // Both are separate functions. Otherwise every read reserves stack for an optional value and an error of unknown
    // size.

    /// Value that a deleted object shows.
    private var none: Value {
        @inline(never) get { Value._zero ?? value }
    }

    /// Reports a stored value that is unknown or cannot be read. Returns the value that the wrapper holds, with which a
    /// block continues: in an object read from a store, the property's default.
    @inline(never)
    @usableFromInline
    func unknown(_ error: UnknownValue, _ owner: StoredObject) -> Value {
        let layout = ModelLayout.of(type(of: owner))
        owner.connection?.failReading(
            error.error(of: "\(layout.typeName).\(layout.properties[Int(ordinal)].name)"))
        return value
    }

    @usableFromInline
    mutating func write(_ value: Value, _ owner: StoredObject) {
        if let binding = owner.binding {
            binding.write(value, Int(ordinal))
        } else {
            self.value = value
        }
    }
}

extension Stored: AnyStored {
    static var ordinalOffset: Int { MemoryLayout<Self>.offset(of: \.ordinal)! }
    static var valueOffset: Int { MemoryLayout<Self>.offset(of: \.value)! }
    static var isSlot: Bool { Value.self == Int.self || Value.self == Double.self }
    static var columnType: ColumnType { Value._columnType }
    static var isOptional: Bool { Value._isOptional }
    static var isFloat: Bool { Value.self == Float.self || Value.self == Float?.self }

    static func isUnchanged(_ read: (any StorableValue) -> Any) -> Bool {
        let candidates: [Any] = [
            false, true, 0, 1, -1, 2, 100, -100, Int.min, Int.max, 0.5, -0.5, Double.infinity, -Double.infinity,
            Double.nan,
            "", " ", "a", "B", "0", "ß é", NSNull(), Data(), Data([0]), UUID(),
            Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -0.5), Date.distantFuture,
        ]
        return candidates.compactMap { Value._value(of: $0) }.allSatisfy {
            (read($0) as? Value)?._columnValue == $0._columnValue
        }
    }

    static func isRead(as type: Any.Type) -> Bool { type == Value.self || type == Value?.self }

    static func role(at address: UnsafeRawPointer) -> StoredRole? {
        address.assumingMemoryBound(to: Self.self).pointee.role
    }

    static func write(at value: UnsafeRawPointer, _ row: RowBuffer, _ column: Int) {
        value.assumingMemoryBound(to: Value.self).pointee._write(row, column)
    }
    static func value(of owner: StoredObject, at offset: Int) -> (any Sendable)? {
        let property = (owner.address + offset).assumingMemoryBound(to: Self.self)
        return withExtendedLifetime(owner) { property.pointee.read(owner, \StoredObject.objectID) }
    }
    static func assign(
        _ value: Any, at address: UnsafeMutableRawPointer, _ place: String, _ make: MakeObject
    ) throws(StoreError) {
        address.assumingMemoryBound(to: Self.self).pointee.value = try Drafts.value(Value.self, value, place)
    }
    static func element(of value: Any, _ place: String, _ make: MakeObject) throws(StoreError) -> Any {
        try Drafts.value(Value.self, value, place)
    }
}
