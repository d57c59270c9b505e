// A mutex for the state of this module and of hang analysis. Its operations are not traced: they would report
// themselves.
import Glibc

/// A mutex that is not traced, and what it guards.
package final class PlainMutex<State>: Sendable {
    /// A state of size zero would be at the object's start, and ThreadSanitizer would report a race between its changes
    /// and reads of the object's class before the lock. The filler prevents that.
    private struct Guarded {
        var state: State
        var filler: UInt8 = 0
    }

    private let mutex = InlineCell(pthread_mutex_t())
    /// Used by the holder of the mutex.
    private let guarded: InlineCell<Guarded>

    package init(_ state: sending State) {
        guarded = InlineCell(Guarded(state: state))
        pthread_mutex_init(mutex.address, nil)
    }

    deinit { pthread_mutex_destroy(mutex.address) }

    package func with<Result>(_ body: (inout sending State) throws -> sending Result) rethrows -> sending Result {
        pthread_mutex_lock(mutex.address)
        defer { pthread_mutex_unlock(mutex.address) }
        return try body(&guarded.address.pointee.state)
    }
}
