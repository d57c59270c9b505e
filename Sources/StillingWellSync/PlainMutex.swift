// A mutex for the state of this module and of hang analysis, whose operations are not traced: they would report themselves.
import Glibc

/// A mutex that is not traced, and what it guards.
///
/// Unchecked because `guarded` changes: whoever touches it holds the lock.
package final class PlainMutex<State>: @unchecked Sendable {
    /// A state of size zero would be at the object's start, and ThreadSanitizer would report a race between its changes
    /// and reads of the object's class before the lock. The filler prevents that.
    private struct Guarded {
        var state: State
        var filler: UInt8 = 0
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Only touched while the mutex is held, so a check at run time would find nothing.
    @exclusivity(unchecked) private var guarded: Guarded

    package init(_ state: sending State) {
        guarded = Guarded(state: state)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func with<Result>(_ body: (inout sending State) throws -> sending Result) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&guarded.state)
    }
}
