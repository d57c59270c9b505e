// A pthread mutex (ThreadSanitizer understands it, its owner can be read from outside, about 6 ns) with a name, and a
// condition on the monotonic clock. `Synchronization.Mutex` is neither TSan-clean nor does it hang where it deadlocks:
// it traps.
//
// Untraced operations are inlined where they are used: one load of the trace mode, then the system's call.
import CPlatform
import Glibc

/// A mutual exclusion lock with a name. Not recursive. Any thread.
public final class TracedMutex: @unchecked Sendable {
    public let resource: TracedResource
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

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
    public func withLock<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result, file: StaticString = #fileID, line: UInt = #line
    ) throws(Failure) -> Result {
        lock(file, line)
        defer { unlock() }
        return try body()
    }

    @inlinable
    public func lock(_ file: StaticString = #fileID, _ line: UInt = #line) {
        if Tracing.isOn { lockTraced(SourcePlace(file, line)) } else { pthread_mutex_lock(mutex) }
    }

    @inlinable
    public func unlock() {
        if Tracing.isOn { unlockTraced() } else { pthread_mutex_unlock(mutex) }
    }

    @usableFromInline
    @inline(never)
    func lockTraced(_ place: SourcePlace) {
        let trace = ThreadTrace.current
        if let control = ScheduleControl.ofThisThread {
            control.acquire(resource)
            pthread_mutex_lock(mutex)
        } else if pthread_mutex_trylock(mutex) != 0 {
            trace.willWait(resource, place)
            pthread_mutex_lock(mutex)
        }
        trace.acquired(resource, place)
    }

    @usableFromInline
    @inline(never)
    func unlockTraced() {
        ThreadTrace.current.released(resource)
        pthread_mutex_unlock(mutex)
        ScheduleControl.ofThisThread?.release(resource)
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
    /// - Parameters:
    ///   - deadlineNs: on the monotonic clock, one that has passed included; nil waits for ever.
    ///   - cause: what the caller really waits for, where that is known: the thread, queue or run loop that will signal.
    /// - Returns: false once the deadline has passed.
    @discardableResult
    public func wait(
        untilNs deadlineNs: Int64? = nil, for cause: TracedResource? = nil, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) -> Bool {
        guard Tracing.isOn else { return waitUntraced(deadlineNs) }
        let place = SourcePlace(file, line)
        let trace = ThreadTrace.current
        let reason = cause ?? resource
        trace.released(mutex.resource)
        trace.willWait(reason, place)
        let inTime: Bool
        if let control = ScheduleControl.ofThisThread {
            pthread_mutex_unlock(mutex.mutex)
            inTime = control.wait(on: resource, giving: mutex.resource, mayTimeOut: deadlineNs != nil)
            pthread_mutex_lock(mutex.mutex)
        } else {
            inTime = waitUntraced(deadlineNs)
        }
        trace.gaveUp(reason)
        trace.acquired(mutex.resource, place)
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
        if Tracing.isOn { ScheduleControl.ofThisThread?.broadcast(resource) }
    }
}
