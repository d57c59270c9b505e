// A pthread mutex (ThreadSanitizer understands it, its owner can be read from outside, about 6 ns) with a name, by itself and
// with the state that it guards, and a condition on the monotonic clock. `Synchronization.Mutex` is neither TSan-clean nor
// does it hang where it deadlocks: it traps.
//
// Untraced operations are inlined where they are used: one load of the trace mode, then the system's call.
import CStillingWellPlatform
import Glibc
import StillingWellBasis

/// A mutual exclusion lock with a name. Not recursive. Any thread.
///
/// By itself it stands for a turn that one thread has at a time; state belongs into a `Guarded`.
/// Unchecked because `Guarded` inherits from it: both properties are constant, and pthread's calls are for any thread.
public class TracedMutex: @unchecked Sendable {
    public final let resource: TracedResource
    @usableFromInline final let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// - Parameter name: the lock's class in reports, such as `mailbox`.
    public init(_ name: String) {
        resource = TracedResource(.mutex, name)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let error = pthread_mutex_init(mutex, nil)
        stopUnless(error == 0, "cannot make mutex '\(name)': \(String(cString: strerror(error)))")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` holding the lock. No code of a user's may run in it, and nothing a user made may be released in it.
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
        if Tracing.isOn { lockTraced(SourcePlace(file, line)) } else { pthread_mutex_lock(mutex) }
    }

    @inlinable
    public final func unlock() {
        if Tracing.isOn { unlockTraced() } else { pthread_mutex_unlock(mutex) }
    }

    @usableFromInline
    @inline(never)
    final func lockTraced(_ place: SourcePlace) {
        let hook = Tracing.hook
        if let control = hook?.control {
            control.acquire(resource, isReentrant: false)
            pthread_mutex_lock(mutex)
        } else if pthread_mutex_trylock(mutex) != 0 {
            hook?.note(.willWait, resource, place)
            pthread_mutex_lock(mutex)
        }
        hook?.note(.acquired, resource, place)
    }

    @usableFromInline
    @inline(never)
    final func unlockTraced() {
        let hook = Tracing.hook
        hook?.note(.released, resource, SourcePlace())
        pthread_mutex_unlock(mutex)
        hook?.control?.release(resource)
    }
}

/// A mutex that owns what it guards: nobody comes to the state but through `withLock`.
///
/// Unchecked because `state` changes: whoever touches it holds the lock.
public final class Guarded<State>: TracedMutex, @unchecked Sendable {
    /// Without the runtime's check of exclusive access: it is the lock that excludes, and who takes it twice hangs.
    @exclusivity(unchecked) @usableFromInline var state: State

    /// - Parameter name: the lock's class in reports, such as `mailbox`.
    public init(_ name: String, _ state: sending State) {
        self.state = state
        super.init(name)
    }

    /// Runs `body` on the state, holding the lock. No code of a user's may run in it, and nothing a user made may be released
    /// in it. It must not wait for a condition: what it was given is its own until it returns.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result, file: StaticString = #fileID,
        line: UInt = #line
    ) throws(Failure) -> sending Result {
        lock(file, line)
        defer { unlock() }
        return try body(&state)
    }

    /// Waits until the state `isReady`, and then runs `body` on it without giving the lock up in between.
    /// - Parameters:
    ///   - condition: what whoever changes the state broadcasts; made with this mutex.
    ///   - deadlineNs: on the monotonic clock; once it has passed `body` runs all the same. nil waits for ever.
    ///   - cause: what the caller really waits for, where that is known: the thread, queue or run loop that will signal.
    public func withLock<Result, Failure: Error>(
        after condition: TracedCondition, untilNs deadlineNs: Int64? = nil, for cause: TracedResource? = nil,
        _ file: StaticString = #fileID, _ line: UInt = #line, once isReady: (State) -> Bool,
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock(file, line)
        defer { unlock() }
        // Each look at the state is an access of its own, so nothing of it is carried over the wait.
        while !isReady(state), condition.wait(untilNs: deadlineNs, for: cause, file, line) {}
        return try body(&state)
    }

    /// Waits until the state `isReady`.
    public func wait(
        for condition: TracedCondition, from cause: TracedResource? = nil, _ file: StaticString = #fileID,
        _ line: UInt = #line, until isReady: (State) -> Bool
    ) {
        withLock(after: condition, for: cause, file, line, once: isReady) { _ in }
    }
}

/// A condition variable; used with one mutex, which the caller holds around every call.
public final class TracedCondition: Sendable {
    public let resource: TracedResource
    private let mutex: TracedMutex
    /// Its calls are for any thread.
    nonisolated(unsafe) private let condition: UnsafeMutablePointer<pthread_cond_t>

    public init(_ name: String, _ mutex: TracedMutex) {
        resource = TracedResource(.condition, name)
        self.mutex = mutex
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Gives the mutex up, waits, takes it again. May wake for no reason: test in a loop.
    /// - Parameters:
    ///   - deadlineNs: on the monotonic clock, one that has passed included; nil waits for ever.
    ///   - cause: what the caller really waits for, where that is known: the thread, queue or run loop that will signal.
    /// - Returns: false once the deadline has passed.
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
            pthread_mutex_unlock(mutex.mutex)
            inTime = control.wait(on: resource, giving: mutex.resource, mayTimeOut: deadlineNs != nil)
            pthread_mutex_lock(mutex.mutex)
        } else {
            inTime = waitUntraced(deadlineNs)
        }
        hook.note(.gaveUp, reason, place)
        hook.note(.acquired, mutex.resource, place)
        return inTime
    }

    private func waitUntraced(_ deadlineNs: Int64?) -> Bool {
        guard let deadlineNs else {
            pthread_cond_wait(condition, mutex.mutex)
            return true
        }
        // A point in time before the clock began is no error: it has passed.
        let atNs = max(0, deadlineNs)
        var deadline = timespec(tv_sec: Int(atNs / 1_000_000_000), tv_nsec: Int(atNs % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex.mutex, &deadline) != ETIMEDOUT
    }

    public func broadcast() {
        pthread_cond_broadcast(condition)
        if Tracing.isOn { Tracing.hook?.control?.broadcast(resource) }
    }
}
