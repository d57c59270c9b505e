// A constant of an object that can be made only after the object, such as a signal whose handler refers to the object.
import StillingWellBasis
import Synchronization

/// A value that is set once and then read by any thread.
public struct SetOnce<Value: Sendable>: ~Copyable, Sendable {
    private static var empty: UInt8 { 0 }
    private static var beingSet: UInt8 { 1 }
    private static var ready: UInt8 { 2 }

    private let cell = InlineCell<Value?>(nil)
    private let state = Atomic<UInt8>(Self.empty)

    public init() {}

    /// Sets the value. Ends the process if there is one.
    public func set(_ value: Value) {
        let before = state.compareExchange(expected: Self.empty, desired: Self.beingSet, ordering: .relaxed)
        stopUnless(before.exchanged, "a value of type \(Value.self) was set twice")
        cell.address.pointee = value
        state.store(Self.ready, ordering: .releasing)
    }

    /// The value, or nil before it is set.
    public var known: Value? { state.load(ordering: .acquiring) == Self.ready ? cell.address.pointee : nil }

    /// The value. Ends the process before it is set.
    public var value: Value {
        guard let known else { stopProgram("a value of type \(Value.self) was used before it was set") }
        return known
    }
}
