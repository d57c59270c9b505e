// A writer that has begun a transaction and does not end it, like an import on another thread.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

/// Holds a store's write lock from `init` to `release`. Used on one thread.
final class LockHolder {
    private let begun = Gate("write lock held")
    private let end = Gate("write lock to be given back")
    private let fault = Guarded<(any Error)?>("lock holder's fault", nil)
    private let thread: TracedThread
    private var isReleased = false

    /// Returns once the lock is held, or once the engine has reported an error, which `release` throws.
    /// - Throws: `TrialFault.hang` if that takes longer than `timeoutNs`.
    init(_ store: any DrivenStore, _ timeoutNs: Int64) throws {
        begun.open(0)
        thread = TracedThread("lock-holder") { [begun, end, fault] in
            do {
                let writer = try store.makeWriter()
                _ = try writer.commit(UnsafeBufferPointer(start: nil, count: 0)) {
                    begun.arriveAndWait()
                    end.arriveAndWait()
                }
            } catch {
                fault.withLock { $0 = error }
                begun.arriveAndWait()
            }
        }
        let deadlineNs = MonotonicClock.nowNs() + timeoutNs
        while begun.arrivals == 0 {
            guard MonotonicClock.nowNs() < deadlineNs else {
                throw TrialFault.hang("a writer without competitors did not get the write lock")
            }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 100_000)
        }
    }

    /// Ends the transaction and waits for it.
    /// - Throws: `TrialFault.store` if the engine has reported an error.
    func release() throws {
        end.open(0)
        isReleased = true
        thread.join()
        if let fault = fault.withLock({ $0 }) {
            throw TrialFault.store("a transaction without changes failed: \(fault)")
        }
    }

    /// If the trial has failed meanwhile, ends the transaction without waiting.
    deinit {
        if isReleased { return }
        end.open(0)
        thread.detach()
    }
}
