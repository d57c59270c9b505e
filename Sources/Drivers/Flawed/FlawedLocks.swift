// The locks of a flawed store: traced locks, a pool of permits, and system mutexes for the flaw that is not traced.
import Glibc
import StillingWellSync

/// A lock that a flawed store may use wrongly.
protocol FlawedLock: AnyObject, Sendable {
    func lock()
    func unlock()
}

extension FlawedLock {
    func with<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}

final class NamedLock: FlawedLock {
    private let mutex: TracedMutex
    init(_ name: String) { mutex = TracedMutex(name) }
    func lock() { mutex.lock() }
    func unlock() { mutex.unlock() }
}

/// A system mutex, as in a library that does not use `StillingWellSync`.
final class ForeignLock: FlawedLock {
    /// Unsafe because the compiler does not know that pthread calls accept the pointer on any thread.
    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}

/// A pool with a limited number of permits. A nested call takes another permit.
final class PermitPool: Sendable {
    private let resource: TracedResource
    /// Number of free permits.
    private let free: Guarded<Int>
    private let returned: TracedCondition

    init(_ name: String, _ count: Int) {
        resource = TracedResource(.pool, name)
        free = Guarded("permits", count)
        returned = TracedCondition("permits", free)
    }

    func with<Result>(_ body: () throws -> Result) rethrows -> Result {
        free.withLock(after: returned, for: resource, once: { $0 > 0 }) { $0 -= 1 }
        Tracing.note(.acquired, on: resource)
        defer {
            Tracing.note(.released, on: resource)
            free.withLock {
                $0 += 1
                returned.broadcast()
            }
        }
        return try body()
    }
}
