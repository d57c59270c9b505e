// State that belongs to one context: a thread (or its run loop), a queue or an actor. Debug builds check at each access
// the context, and that no change is under way. Release builds check nothing and store nothing but the value.
import CStillingWellPlatform
import Dispatch
import StillingWellBasis
import Synchronization

/// A value that only one context uses. Debug builds end the process if another context uses it.
///
/// A context that `init(_:to:)` does not name is that of the first access or of `init(here:)`: the `TracedQueue` whose
/// block the caller runs, except the main queue, and otherwise the caller's thread. A context that has waited for the
/// last access of the one before it takes the value over with `claim()`.
public struct DeliveryBound<Value>: ~Copyable, Sendable {
    @usableFromInline let cell: InlineCell<Value>
    #if DEBUG
        @usableFromInline let check: ContextCheck
    #endif

    /// Binds the value to the context that uses it first.
    @inlinable
    @inline(__always)
    public init(_ value: sending Value) {
        cell = InlineCell(value)
        #if DEBUG
            check = ContextCheck(nil)
        #endif
    }

    /// Binds the value to the context of the caller.
    @inlinable
    @inline(__always)
    public init(here value: Value) {
        cell = InlineCell(value)
        #if DEBUG
            check = ContextCheck(nil)
            check.claim()
        #endif
    }

    /// Binds the value to a context. The caller must not use it outside of that context any more.
    @inlinable
    @inline(__always)
    public init(_ value: Value, to context: @autoclosure () -> BoundContext) {
        cell = InlineCell(value)
        #if DEBUG
            check = ContextCheck(context())
        #endif
    }

    #if DEBUG
        @inlinable public var value: Value {
            get {
                check.read()
                return cell.address.pointee
            }
            nonmutating _modify {
                check.beginChanging()
                defer { check.endChanging() }
                yield &cell.address.pointee
            }
        }
    #else
        @inlinable public var value: Value {
            @inline(__always) unsafeAddress { UnsafePointer(cell.address) }
            @inline(__always) nonmutating unsafeMutableAddress { cell.address }
        }
    #endif

    /// Binds the value to the context of the caller, which has waited for the last access of the context before it.
    /// From here on, an access by the former context ends the process in debug builds. Does not replace a context that
    /// `init(_:to:)` has named.
    @inlinable
    @inline(__always)
    public func claim() {
        #if DEBUG
            check.claim()
        #endif
    }
}

/// A context as a name and a check whether the caller is in it.
public struct BoundContext: Sendable {
    let name: String
    /// Returns false or ends the process if the caller is in another context.
    let isCurrent: @Sendable () -> Bool

    /// - Parameter isCurrent: whether the caller is in the context.
    public init(_ name: String, isCurrent: @escaping @Sendable () -> Bool) {
        (self.name, self.isCurrent) = (name, isCurrent)
    }

    /// A serial queue.
    public static func queue(_ queue: DispatchQueue) -> BoundContext {
        BoundContext("queue \(queue.label)") {
            dispatchPrecondition(condition: .onQueue(queue))
            return true
        }
    }

    /// An actor, which is not retained. Once it has been released, no caller is in its context.
    public static func actor(_ actor: any Actor) -> BoundContext {
        BoundContext("actor \(type(of: actor))") { [weak actor] in
            guard let actor else { return false }
            actor.preconditionIsolated()
            return true
        }
    }
}

#if DEBUG
    /// The context of a value, and whether a change is under way.
    @usableFromInline
    struct ContextCheck: ~Copyable, Sendable {
        private let context: BoundContext?
        /// The thread or queue that the value belongs to; 0 if none is known yet, or if there is a `context`.
        private let owner = Atomic<UInt64>(0)
        private let isChanging = Atomic<Bool>(false)

        @usableFromInline init(_ context: BoundContext?) { self.context = context }

        /// The queue whose block the caller runs, or else its thread. A block of the main queue counts as its thread.
        private static var here: UInt64 {
            if let queue = TracedQueue.currentResource, queue.servedBy == 0 { return queue.id << 1 }
            return cp_thread_number() << 1 | 1
        }

        private static func name(_ owner: UInt64) -> String {
            owner & 1 == 0 ? "queue number \(owner >> 1)" : "thread number \(owner >> 1)"
        }

        private func checkContext() {
            if let context {
                stopUnless(context.isCurrent(), "state of \(context.name) was used on another context: use it there")
                return
            }
            let here = Self.here
            var known = owner.load(ordering: .relaxed)
            if known == here { return }
            if known == 0 { known = owner.compareExchange(expected: 0, desired: here, ordering: .relaxed).original }
            stopUnless(
                known == 0,
                "state of \(Self.name(known)) was used on \(Self.name(here)): use it there, or claim it after a wait")
        }

        @usableFromInline func claim() {
            stopUnless(!isChanging.load(ordering: .relaxed), "state was claimed while its context was changing it")
            if context == nil { owner.store(Self.here, ordering: .relaxed) }
        }

        @usableFromInline func read() {
            checkContext()
            stopUnless(!isChanging.load(ordering: .relaxed), "state was read while its context was changing it")
        }

        @usableFromInline func beginChanging() {
            checkContext()
            let isNested = isChanging.exchange(true, ordering: .relaxed)
            stopUnless(!isNested, "state was changed while its context was changing it")
        }

        @usableFromInline func endChanging() { isChanging.store(false, ordering: .relaxed) }
    }
#endif
