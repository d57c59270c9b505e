// The thread that flushes what nobody waits for, and moves on what the process holds. It begins with the first commit, and sleeps for as
// long as no process commits. `state` is a leaf; whether there is a thread is also an atomic, which every commit reads.
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

    /// What it does, by closures that it calls.
    struct Work: Sendable {
        /// Whether there is something to do.
        let lags: @Sendable () -> Bool
        /// How many commits are not flushed.
        let ahead: @Sendable () -> UInt64
        let flush: @Sendable () throws(StoreError) -> Void
        /// Whether no flush can come to anything any more.
        let isLost: @Sendable () -> Bool
    }

    /// Starts it, where it does not run.
    /// - Returns: false where the system has no room for a thread.
    func start(_ work: Work) -> Bool {
        state.withLock { state in
            if state.thread != nil || state.isStopped { return true }
            guard let thread = try? TracedThread(starting: "well-flush", { self.run(work) }) else { return false }
            state.thread = thread
            hasStarted.store(true, ordering: .relaxed)
            return true
        }
    }

    /// Has it flush at once.
    func wake() {
        _ = cp_add32(page.flushWish, 1)
        _ = cp_futex_wake_all(page.flushWish)
    }

    /// Ends it, and waits for that.
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
                // Once, however long it lasts.
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

    /// Waits until it is time.
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
