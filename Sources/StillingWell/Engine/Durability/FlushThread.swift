// The thread that makes flushes no commit waits for, and advances the version that the process holds. It starts with
// the first commit of the process and sleeps while no process commits. `state` is a leaf lock. `hasStarted` is an
// atomic, which every commit reads.
import CStillingWellPlatform
import Glibc
import Logging
import StillingWellSync
import Synchronization

final class FlushThread: Sendable {
    private struct State {
        var thread: TracedThread?
        var isStopped = false
    }

    private let page: SharedPage
    private let plan: FlushPlan
    private let state = Guarded("flush thread", State())
    private let hasStarted = Atomic(false)
    private let isStopped = Atomic(false)

    init(_ page: SharedPage, _ plan: FlushPlan) { (self.page, self.plan) = (page, plan) }

    @inline(__always)
    var isRunning: Bool { hasStarted.load(ordering: .relaxed) }

    /// Work of the thread.
    struct Work: Sendable {
        /// Whether there are commits newer than the held version.
        let lags: @Sendable () -> Bool
        /// Number of commits that are not flushed.
        let ahead: @Sendable () -> UInt64
        let flush: @Sendable () throws(StoreError) -> Void
        /// Whether flushes cannot succeed any more.
        let isLost: @Sendable () -> Bool
    }

    /// Starts the thread unless it runs.
    /// - Returns: false if the system cannot create a thread.
    func start(_ work: Work) -> Bool {
        state.withLock { state in
            if state.thread != nil || state.isStopped { return true }
            guard let thread = try? TracedThread(starting: "well-flush", { self.run(work) }) else { return false }
            state.thread = thread
            hasStarted.store(true, ordering: .relaxed)
            return true
        }
    }

    /// Makes the flush threads of all processes flush at once, if there is something to flush.
    func wake() {
        _ = cp_add32(page.flushWish, 1)
        _ = cp_futex_wake_all(page.flushWish)
    }

    /// Stops the thread and waits for its end.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        let thread = state.withLock { state in
            state.isStopped = true
            return state.thread.take()
        }
        guard let thread else { return }
        page.wakeAll()
        wake()
        thread.join()
    }

    private var isOver: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

    private func run(_ work: Work) {
        var isFailing = false
        while !isOver {
            let seen = page.count(.everyCommit)
            guard work.lags() else {
                if !isOver { page.wait(for: .everyCommit, since: seen, timeoutNs: -1) }
                continue
            }
            gather(work.ahead)
            if isOver { return }
            let wish = cp_load32(page.flushWish)
            do throws(StoreError) {
                try work.flush()
                isFailing = false
            } catch {
                let isLost = work.isLost()
                // Logs the first of successive failures, and the one that ends the thread.
                if isLost || !isFailing {
                    let remedy = isLost ? "not any more" : "until a later try succeeds"
                    Logger(label: "stillingwell").error("a store is not flushed, \(remedy): \(error)")
                }
                if isLost { return }
                isFailing = true
                if !isOver { _ = cp_futex_wait(page.flushWish, wish, plan.retryNs ?? -1) }
            }
        }
    }

    /// Waits until enough commits or enough time have gathered, or a flush is requested.
    private func gather(_ ahead: () -> UInt64) {
        let beganNs = monotonicNs()
        let wish = cp_load32(page.flushWish)
        while !isOver {
            if ahead() >= plan.everyCommits || cp_load32(page.flushWish) != wish { return }
            let remainingNs = plan.intervalNs.map { $0 - (monotonicNs() - beganNs) }
            if let remainingNs, remainingNs <= 0 { return }
            if !isOver { _ = cp_futex_wait(page.flushWish, wish, remainingNs ?? -1) }
        }
    }
}
