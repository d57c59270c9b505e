// `@Listed`, a property that holds a list of values or of links. The wrapper holds the elements of an object that is
// not stored, and the list's query for a stored one.
import StillingWellBasis

/// Declares a list property.
///
///     final class Person: StoredObject {
///         @Listed var tags: List<String>
///         @Listed var friends: List<Person>
///     }
@propertyWrapper
public struct Listed<Element: ListElement> {
    var ordinal: Int32 = -1
    var box: ListBox<Element>?

    /// Makes an empty list.
    public init() {}

    /// Makes a list of these elements.
    public init(wrappedValue: List<Element>) { box = ListBox(Array(wrappedValue)) }

    @available(*, unavailable, message: "@Listed works in subclasses of StoredObject only")
    public var wrappedValue: List<Element> {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, List<Element>>,
        storage storage: ReferenceWritableKeyPath<Owner, Listed<Element>>
    ) -> List<Element> {
        get {
            let ordinal = Int(owner[keyPath: storage].ordinal)
            if let trace = owner.trace { trace.note(owner, ordinal, wrapped, count: \List<Element>.count) }
            if let box = owner[keyPath: storage].box { return List(box, owner, ordinal) }
            let box = ListBox<Element>()
            owner[keyPath: storage].box = box
            return List(box, owner, ordinal)
        }
        set {
            let elements = Array(newValue)
            let list = owner[keyPath: wrapped]
            list.removeAll()
            list.append(contentsOf: elements)
        }
    }
}

/// The elements of a list that is not stored, or the query of a stored one.
final class ListBox<Element: ListElement>: ListQuery {
    var elements: [Element]

    init(_ elements: [Element] = []) { self.elements = elements }
}

extension Listed: AnyConnected {
    static var ordinalOffset: Int { MemoryLayout<Self>.offset(of: \.ordinal)! }
    static var columnType: ColumnType { .list }
    static var isOptional: Bool { false }
    static var target: StoredObject.Type? { Element.wrapper.target }
    static var element: (any AnyStored.Type)? { Element.wrapper }

    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int) { row.setSlot(column, 0) }

    static func linked(at address: UnsafeRawPointer) -> (StoredObject, StoredObject.Type)? { nil }

    private static func box(_ address: UnsafeRawPointer) -> ListBox<Element>? {
        address.assumingMemoryBound(to: Self.self).pointee.box
    }

    static func hold(at address: UnsafeRawPointer, in held: inout [StoredObject]) {
        guard Element.self is StoredObject.Type, let box = box(address) else { return }
        for element in box.elements { held.append(element as! StoredObject) }
    }

    static func value(of owner: StoredObject, at offset: Int) -> (any Sendable)? {
        guard Element.self is any StorableValue.Type else { return nil }
        let property = (owner.address + offset).assumingMemoryBound(to: Self.self)
        let list = withExtendedLifetime(owner) {
            let box = property.pointee.box ?? ListBox<Element>()
            property.pointee.box = box
            return List(box, owner, Int(property.pointee.ordinal))
        }
        return list.map { $0 as! any StorableValue }
    }

    static func assign(
        _ value: Any, at address: UnsafeMutableRawPointer, _ place: String, _ make: MakeObject
    ) throws(StoreError) {
        guard let values = value as? [Any] else { throw Drafts.misfit(value, place, "an array of \(Element.self)") }
        var elements: [Element] = []
        for (index, value) in values.enumerated() {
            elements.append(try Element.wrapper.element(of: value, "\(place)[\(index)]", make) as! Element)
        }
        address.assumingMemoryBound(to: Self.self).pointee.box = ListBox(elements)
    }

    static func element(of value: Any, _ place: String, _ make: MakeObject) throws(StoreError) -> Any {
        stopProgram("a list is no element of a list")
    }

    static func finishAdding(
        at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int, replacing policy: UpdatePolicy?
    ) throws {
        guard let binding = owner.binding else { return }
        let elements = box(address)?.elements ?? []
        if policy == nil, elements.isEmpty { return }
        let list = StoredList(binding, ordinal)
        let values = try elements.map { try $0._prepared(binding.connection) }
        if let policy { try list.replace(with: values, policy) } else { try list.append(values) }
    }

    static func forget(at address: UnsafeMutableRawPointer) { box(address)?.elements = [] }
}
