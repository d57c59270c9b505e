// The write lock (level 0): one writer at a time over all threads and processes, robust against killed owners, and
// fair: a mutex alone lets whoever released it take it again at once, so a writer that has waited `patienceNs` goes
// through the gate, and everyone who comes later waits there until it has been served. Writers so take turns of about
// a millisecond each, and no commit in between pays for a hand-off.
//
// `page.mutex` is the lock. `page.gate` is held by the one starving writer while it waits for the mutex.
// `page.starving` counts who waits for the gate in order to insist. A writer killed meanwhile leaves it too high, which
// costs newcomers one more lock each; so it is set to 0 now and then. That costs a writer that waits at the gate its
// privilege until it has the gate, and nothing else: nobody subtracts from 0.
import CPlatform
import Glibc
import TracedSync

/// Nanoseconds on CLOCK_MONOTONIC.
func monotonicNs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

final class WriteLock: @unchecked Sendable {
    /// How long a writer competes before it insists on being next.
    static let patienceNs: Int64 = 1_000_000

    private let page: SharedPage
    private let resource = TracedResource(.fileLock, "store write lock")

    init(_ page: SharedPage) { self.page = page }

    /// Waits for the lock, at most `timeoutNs` (negative: as long as it takes).
    /// - Returns: true when the previous owner was killed holding it.
    /// - Throws: `writeInsideWrite` when the calling thread holds it, `writeTimedOut`.
    func lock(timeoutNs: Int64) throws(StoreError) -> Bool {
        Tracing.note(.willWait, on: resource)
        var ownerDied = false
        let error = acquire(timeoutNs: timeoutNs, &ownerDied)
        guard error == 0 else {
            Tracing.note(.gaveUp, on: resource)
            switch error {
            case EDEADLK: throw .writeInsideWrite
            case ETIMEDOUT: throw .writeTimedOut(seconds: Double(timeoutNs) / 1e9)
            default:
                throw .storage(operation: "write lock", code: error, reason: String(cString: strerror(error)))
            }
        }
        Tracing.note(.acquired, on: resource)
        return ownerDied
    }

    private func acquire(timeoutNs: Int64, _ ownerDied: inout Bool) -> Int32 {
        let deadlineNs = timeoutNs < 0 ? Int64.max : monotonicNs() + timeoutNs
        func remainingNs() -> Int64 { timeoutNs < 0 ? -1 : max(0, deadlineNs - monotonicNs()) }

        if cp_load32(page.starving) != 0 {
            // Whoever has the mutex must not wait for the gate: its keeper waits for the mutex.
            if cp_mutex_is_mine(page.mutex) { return EDEADLK }
            let error = passGate(remainingNs())
            if error != 0 { return error }
        }
        let patienceNs = timeoutNs < 0 ? Self.patienceNs : min(Self.patienceNs, remainingNs())
        let error = cp_robust_mutex_lock(page.mutex, patienceNs, &ownerDied)
        if error != ETIMEDOUT { return error }
        if timeoutNs >= 0, remainingNs() == 0 { return ETIMEDOUT }
        return insist(remainingNs, &ownerDied)
    }

    /// Waits until the starving writer has been served.
    private func passGate(_ timeoutNs: Int64) -> Int32 {
        var keeperDied = false
        let error = cp_robust_mutex_lock(page.gate, timeoutNs, &keeperDied)
        guard error == 0 else { return error }
        // A killed keeper leaves its count behind; nobody else is between the two locks now, so start afresh.
        if keeperDied { cp_store32(page.starving, 0) }
        cp_robust_mutex_unlock(page.gate)
        return 0
    }

    /// Goes next: while it holds the gate, newcomers wait there instead of at the mutex.
    private func insist(_ remainingNs: () -> Int64, _ ownerDied: inout Bool) -> Int32 {
        _ = cp_add32(page.starving, 1)
        defer { cp_subtract_if_positive32(page.starving) }
        var keeperDied = false
        let error = cp_robust_mutex_lock(page.gate, remainingNs(), &keeperDied)
        guard error == 0 else { return error }
        if keeperDied || cp_load32(page.starving) == 0 { cp_store32(page.starving, 1) }
        defer { cp_robust_mutex_unlock(page.gate) }
        return cp_robust_mutex_lock(page.mutex, remainingNs(), &ownerDied)
    }

    /// Forgets what killed writers have left in the count of those that wait.
    func forgetDead() { cp_store32(page.starving, 0) }

    func unlock() {
        Tracing.note(.released, on: resource)
        cp_robust_mutex_unlock(page.mutex)
    }
}
