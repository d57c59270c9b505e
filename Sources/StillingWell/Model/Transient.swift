// `@Transient`, a model property that is deliberately not stored.

/// Declares a property of a `StoredObject` subclass that is not stored.
///
///     final class Item: StoredObject {
///         @Stored var title = ""
///         @Transient var isSelected = false
///     }
///
/// Its value belongs to the instance. Each instance read from a store begins with the declared value. Unlike an
/// unmarked property, it causes no warning when a store is opened.
@propertyWrapper
public struct Transient<Value>: AnyProperty {
    static var kind: PropertyKind { .columnless }

    /// The value of this instance.
    public var wrappedValue: Value

    /// Makes a property with this initial value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
