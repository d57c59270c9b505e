// Objects as addresses: the context of a callback of C code, and keys by identity. Debug builds check the class of an
// object that comes back. The caller must keep a borrowed object alive.

/// Conversion between objects and addresses.
public enum ObjectPointer {
    /// The address of an object, which it does not retain.
    @inlinable
    @inline(__always)
    public static func borrowed(_ object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    /// The address of an object, which is kept until `take` or `release` is given the address.
    @inlinable
    @inline(__always)
    public static func kept(_ object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(object).toOpaque()
    }

    /// The object at an address that `borrowed` or `kept` has returned.
    @inlinable
    @inline(__always)
    public static func object<Object: AnyObject>(
        _ address: UnsafeRawPointer, as type: Object.Type = Object.self
    ) -> Object {
        let known = Unmanaged<Object>.fromOpaque(address)
        assert(
            known.takeUnretainedValue() as AnyObject is Object,
            "the object at an address is not of the class expected there")
        return known.takeUnretainedValue()
    }

    /// Returns the object at an address from `kept`, and ends that retention.
    @inlinable
    @inline(__always)
    public static func take<Object: AnyObject>(
        _ address: UnsafeRawPointer, as type: Object.Type = Object.self
    ) -> Object {
        let object = object(address, as: type)
        release(address)
        return object
    }

    /// Ends the retention of an address from `kept`.
    @inlinable
    @inline(__always)
    public static func release(_ address: UnsafeRawPointer) { Unmanaged<AnyObject>.fromOpaque(address).release() }
}
