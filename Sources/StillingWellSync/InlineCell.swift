// Memory for one value inside its owner, such as a `Guarded`, `SetOnce` or `DeliveryBound`. The owner decides which
// thread may access the value. The value can be changed although the owner is a constant.
#if !SANITIZED
    import Builtin
#endif

#if SANITIZED
    /// One value in separate memory, because ThreadSanitizer takes a change of an inline value with raw layout for a
    /// change of its owner's first bytes, which every thread reads.
    @usableFromInline
    struct InlineCell<Value>: ~Copyable {
        @usableFromInline let address: UnsafeMutablePointer<Value>

        @inlinable
        init(_ value: consuming Value) {
            address = .allocate(capacity: 1)
            address.initialize(to: value)
        }

        @inlinable
        deinit {
            address.deinitialize(count: 1)
            address.deallocate()
        }
    }
#else
    /// One value, stored inline and changed through its address. Nothing is checked here.
    @_rawLayout(like: Value, movesAsLike)
    @usableFromInline
    struct InlineCell<Value>: ~Copyable {
        @inlinable
        @inline(__always)
        init(_ value: consuming Value) { address.initialize(to: value) }

        @inlinable
        deinit { address.deinitialize(count: 1) }

        /// Address of the value. It stays the same as long as the owner is not moved, which an object never is.
        @inlinable var address: UnsafeMutablePointer<Value> {
            @inline(__always) get { UnsafeMutablePointer(Builtin.addressOfRawLayout(self)) }
        }
    }
#endif

/// Unchecked because only types of this module use it: they hold a lock, set the value once, check the context, use it
/// on one thread, or give its address to functions of the system that any thread may call.
extension InlineCell: @unchecked Sendable {}
