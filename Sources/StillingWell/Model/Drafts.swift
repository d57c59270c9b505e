// Makes objects from dictionaries of property values. They are not stored yet.
import Foundation

/// Makes objects and records which of their properties were named.
struct Drafts {
    /// By object: bit i is set if the property of ordinal i was named. Valid while the first object made is referenced.
    private(set) var given: [ObjectIdentifier: UInt64] = [:]

    /// - Parameter place: name of the object in errors, such as `Person.friend`.
    /// - Throws: `invalidValue`.
    mutating func make(
        _ type: StoredObject.Type, _ values: [String: Any], _ place: String
    ) throws(StoreError) -> StoredObject {
        let properties = ModelLayout.of(type).properties
        let object = type.init()
        var named: UInt64 = 0
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let ordinal = properties.firstIndex(where: { $0.name == name }) else {
                let names = properties.map { "'\($0.name)'" }.joined(separator: ", ")
                throw .invalidValue(
                    property: "\(place).\(name)", reason: "\(type) has no such property: name one of \(names)")
            }
            let property = properties[ordinal]
            try property.wrapper.assign(value, at: object.address + property.offset, "\(place).\(name)") {
                type, value, place throws(StoreError) in try self.object(type, value, place)
            }
            named |= 1 << UInt64(ordinal)
        }
        given[ObjectIdentifier(object)] = named
        return object
    }

    /// Returns the object for a link or list: the given object, or one made from a dictionary.
    private mutating func object(_ type: StoredObject.Type, _ value: Any, _ place: String) throws(StoreError)
        -> StoredObject
    {
        if let object = value as? StoredObject, Swift.type(of: object) == type { return object }
        guard let values = value as? [String: Any] else {
            throw Self.misfit(value, place, "an object of \(type), or a dictionary of its properties")
        }
        return try make(type, values, place)
    }

    static func value<Value: StorableValue>(_: Value.Type, _ value: Any, _ place: String) throws(StoreError) -> Value {
        // Excluded, because Foundation converts Booleans, such as those of JSON, to every number type.
        let isFit = Value._columnType == .bool || !isTruthValue(value)
        guard isFit, let made = Value._value(of: value) else {
            throw misfit(value, place, "a value of type \(Value.self)")
        }
        return made
    }

    /// Whether a value is a Foundation Boolean. These share one class.
    private static func isTruthValue(_ value: Any) -> Bool { type(of: value) == type(of: NSNumber(value: true) as Any) }

    static func misfit(_ value: Any, _ place: String, _ wanted: String) -> StoreError {
        let given: Any.Type = isTruthValue(value) ? Bool.self : type(of: value)
        return .invalidValue(property: place, reason: "a value of type \(given) was given; give \(wanted)")
    }
}
