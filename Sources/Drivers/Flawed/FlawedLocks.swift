// The locks of a flawed store: traced ones, a pool of permits, and plain ones of the system's for the flaw that tracing
// does not see.
import Glibc
import TracedSync

/// A lock that a flawed store may get wrong.
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

/// As a library has it that knows nothing of `TracedSync`.
final class ForeignLock: FlawedLock, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

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

/// So many may be inside at a time. `mutex` guards `free`.
final class PermitPool: @unchecked Sendable {
    private let resource: TracedResource
    private let mutex = TracedMutex("permits")
    private let returned: TracedCondition
    private var free: Int

    init(_ name: String, _ count: Int) {
        resource = TracedResource(.pool, name)
        returned = TracedCondition("permits", mutex)
        free = count
    }

    func with<Result>(_ body: () throws -> Result) rethrows -> Result {
        mutex.withLock {
            while free == 0 { returned.wait(for: resource) }
            free -= 1
        }
        Tracing.note(.acquired, on: resource)
        defer {
            Tracing.note(.released, on: resource)
            mutex.withLock {
                free += 1
                returned.broadcast()
            }
        }
        return try body()
    }
}
