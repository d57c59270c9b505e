// Named pthread mutexes, with or without the state that they guard, and a condition on the monotonic clock.
// ThreadSanitizer understands pthread mutexes, and their owner can be read from outside.
// `Synchronization.Mutex` is not supported by ThreadSanitizer, and it traps instead of hanging in a deadlock.
//
// Locking and unlocking are inlined at their use: one load of the trace mode, then, if it is off, the system's call.
import CStillingWellPlatform
import Glibc
import StillingWellBasis

/// A mutual exclusion lock with a name. Not recursive. Any thread.
///
/// Used by itself if only one thread at a time may run a section. State belongs into a `Guarded`. Unchecked because
/// `Guarded` inherits from it: both properties are constant, and pthread's calls are for any thread.
public class TracedMutex: @unchecked Sendable {
    public final let resource: TracedResource
    @usableFromInline final let mutex = InlineCell(pthread_mutex_t())

    /// - Parameter name: class of the lock in reports, such as `mailbox`.
    public init(_ name: String) {
        resource = TracedResource(.mutex, name)
        let error = pthread_mutex_init(mutex.address, nil)
        stopUnless(error == 0, "cannot make mutex '\(name)': \(String(cString: strerror(error)))")
    }

    deinit { pthread_mutex_destroy(mutex.address) }

    /// Runs `body` holding the lock. No user code may run, and no user objects may be released, in it.
    @inlinable
    public final func withLock<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result, file: StaticString = #fileID, line: UInt = #line
    ) throws(Failure) -> Result {
        lock(file, line)
        defer { unlock() }
        return try body()
    }

    @inlinable
    public final func lock(_ file: StaticString = #fileID, _ line: UInt = #line) {
        if Tracing.isOn { lockTraced(SourcePlace(file, line)) } else { pthread_mutex_lock(mutex.address) }
    }

    @inlinable
    public final func unlock() {
        if Tracing.isOn { unlockTraced() } else { pthread_mutex_unlock(mutex.address) }
    }

    @usableFromInline
    @inline(never)
    final func lockTraced(_ place: SourcePlace) {
        let hook = Tracing.hook
        if let control = hook?.control {
            control.acquire(resource, isReentrant: false)
            pthread_mutex_lock(mutex.address)
        } else if pthread_mutex_trylock(mutex.address) != 0 {
            hook?.note(.willWait, resource, place)
            pthread_mutex_lock(mutex.address)
        }
        hook?.note(.acquired, resource, place)
    }

    @usableFromInline
    @inline(never)
    final func unlockTraced() {
        let hook = Tracing.hook
        hook?.note(.released, resource, SourcePlace())
        pthread_mutex_unlock(mutex.address)
        hook?.control?.release(resource)
    }
}

/// A mutex that owns the state it guards.
///
/// Unchecked because the compiler checks only final classes without a superclass. Its properties are constant.
public final class Guarded<State>: TracedMutex, @unchecked Sendable {
    /// Used by the holder of the lock. A thread that takes the lock twice hangs, so no two accesses overlap.
    @usableFromInline let state: InlineCell<State>

    /// - Parameter name: class of the lock in reports, such as `mailbox`.
    public init(_ name: String, _ state: sending State) {
        self.state = InlineCell(state)
        super.init(name)
    }

    /// Runs `body` on the state, holding the lock. No user code may run, and no user objects may be released, in it. It
    /// must not wait for a condition, because it has exclusive access to the state until it returns.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result, file: StaticString = #fileID,
        line: UInt = #line
    ) throws(Failure) -> sending Result {
        lock(file, line)
        defer { unlock() }
        return try body(&state.address.pointee)
    }

    /// Waits until `isReady` is true or the deadline has passed, and then runs `body` without releasing the lock in
    /// between.
    /// - Parameters:
    ///   - condition: condition made with this mutex, broadcast by code that changes the state.
    ///   - deadlineNs: time on the monotonic clock; nil waits without limit.
    ///   - cause: the thread, queue or run loop that will signal the condition, if known.
    public func withLock<Result, Failure: Error>(
        after condition: TracedCondition, untilNs deadlineNs: Int64? = nil, for cause: TracedResource? = nil,
        _ file: StaticString = #fileID, _ line: UInt = #line, once isReady: (State) -> Bool,
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock(file, line)
        defer { unlock() }
        // Each test of the state is a separate access, so that none extends over the wait.
        while !isReady(state.address.pointee), condition.wait(untilNs: deadlineNs, for: cause, file, line) {}
        return try body(&state.address.pointee)
    }

    /// Waits until `isReady` is true.
    public func wait(
        for condition: TracedCondition, from cause: TracedResource? = nil, _ file: StaticString = #fileID,
        _ line: UInt = #line, until isReady: (State) -> Bool
    ) {
        withLock(after: condition, for: cause, file, line, once: isReady) { _ in }
    }
}

/// A condition variable of one mutex, which the caller holds around every call.
public final class TracedCondition: Sendable {
    public let resource: TracedResource
    private let mutex: TracedMutex
    private let condition = InlineCell(pthread_cond_t())

    public init(_ name: String, _ mutex: TracedMutex) {
        resource = TracedResource(.condition, name)
        self.mutex = mutex
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition.address, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit { pthread_cond_destroy(condition.address) }

    /// Releases the mutex, waits and takes it again. May wake spuriously: test in a loop.
    /// - Parameters:
    ///   - deadlineNs: time on the monotonic clock, which may be past; nil waits without limit.
    ///   - cause: the thread, queue or run loop that will signal the condition, if known.
    /// - Returns: false if the wait timed out.
    @discardableResult
    public func wait(
        untilNs deadlineNs: Int64? = nil, for cause: TracedResource? = nil, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) -> Bool {
        guard Tracing.isOn, let hook = Tracing.hook else { return waitUntraced(deadlineNs) }
        let place = SourcePlace(file, line)
        let reason = cause ?? resource
        hook.note(.released, mutex.resource, place)
        hook.note(.willWait, reason, place)
        let inTime: Bool
        if let control = hook.control {
            pthread_mutex_unlock(mutex.mutex.address)
            inTime = control.wait(on: resource, giving: mutex.resource, mayTimeOut: deadlineNs != nil)
            pthread_mutex_lock(mutex.mutex.address)
        } else {
            inTime = waitUntraced(deadlineNs)
        }
        hook.note(.gaveUp, reason, place)
        hook.note(.acquired, mutex.resource, place)
        return inTime
    }

    private func waitUntraced(_ deadlineNs: Int64?) -> Bool {
        guard let deadlineNs else {
            pthread_cond_wait(condition.address, mutex.mutex.address)
            return true
        }
        // A negative deadline is valid: it has passed.
        let atNs = max(0, deadlineNs)
        var deadline = timespec(tv_sec: Int(atNs / 1_000_000_000), tv_nsec: Int(atNs % 1_000_000_000))
        return pthread_cond_timedwait(condition.address, mutex.mutex.address, &deadline) != ETIMEDOUT
    }

    public func broadcast() {
        pthread_cond_broadcast(condition.address)
        if Tracing.isOn { Tracing.hook?.control?.broadcast(resource) }
    }
}
