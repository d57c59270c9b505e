// `@Transient`, a property of a model that is deliberately not stored.

/// Makes a property of a `StoredObject` subclass one of the instance alone.
///
///     final class Item: StoredObject {
///         @Stored var title = ""
///         @Transient var isSelected = false
///     }
///
/// Nobody else sees it, and each instance that is read from a store begins with the value it was declared with. It works
/// as an unmarked property does, of which opening a store warns.
@propertyWrapper
public struct Transient<Value>: Columnless {
    /// The value of this instance.
    public var wrappedValue: Value

    /// A property that begins with this value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

/// A wrapper that a model may have and that takes no column, on purpose.
protocol Columnless {}
