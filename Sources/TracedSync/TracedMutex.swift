// A pthread mutex (ThreadSanitizer understands it, its owner can be read from outside, about 6 ns) and a condition
// on the monotonic clock. `Synchronization.Mutex` is neither TSan-clean nor does it hang where it deadlocks: it traps.
import CPlatform
import Glibc

/// A mutual exclusion lock with a name. Not recursive. Any thread.
public final class TracedMutex: @unchecked Sendable {
    public let resource: TracedResource
    let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// - Parameter name: the lock's class in reports, such as `mailbox`.
    public init(_ name: String) {
        resource = TracedResource(.mutex, name)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let error = pthread_mutex_init(mutex, nil)
        precondition(error == 0, "cannot make mutex '\(name)': \(String(cString: strerror(error)))")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` holding the lock. No code of a user's may run in it, and nothing a user made may be released in it.
    @inlinable
    public func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    public func lock() {
        Tracing.note(.willWait, resource)
        pthread_mutex_lock(mutex)
        Tracing.note(.acquired, resource)
    }

    public func unlock() {
        Tracing.note(.released, resource)
        pthread_mutex_unlock(mutex)
    }
}

/// A condition variable; used with one mutex, which the caller holds around every call.
public final class TracedCondition: @unchecked Sendable {
    public let resource: TracedResource
    private let mutex: TracedMutex
    private let condition: UnsafeMutablePointer<pthread_cond_t>

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
    /// - Parameter deadlineNs: on the monotonic clock; nil waits for ever.
    /// - Returns: false once the deadline has passed.
    @discardableResult
    public func wait(untilNs deadlineNs: Int64? = nil) -> Bool {
        Tracing.note(.released, mutex.resource)
        Tracing.note(.willWait, resource)
        var inTime = true
        if let deadlineNs {
            var deadline = timespec(tv_sec: Int(deadlineNs / 1_000_000_000), tv_nsec: Int(deadlineNs % 1_000_000_000))
            inTime = pthread_cond_timedwait(condition, mutex.mutex, &deadline) != ETIMEDOUT
        } else {
            pthread_cond_wait(condition, mutex.mutex)
        }
        Tracing.note(inTime ? .acquired : .gaveUp, resource)
        Tracing.note(.released, resource)
        Tracing.note(.acquired, mutex.resource)
        return inTime
    }

    public func broadcast() { pthread_cond_broadcast(condition) }
}
