// The write lock: one writer at a time over all threads and processes, robust against killed owners, and fair.
//
// With a mutex alone, a thread can take it again right after releasing it; a handover at every commit costs two thread
// switches. So writers take turns: if others wait, a turn ends after a number of commits or some time. A writer that
// finds others waiting first waits until as many turns have begun. Then it mostly competes for the mutex with the owner
// of the last of these turns only.
//
// `page.mutex` is the lock. Its owner writes `turnOwner`, `turnCommits` and `turnStart`. `page.waiting` counts waiting
// writers. A killed one leaves the count too high, and writers behind it would wait for a turn that never comes. A
// writer that sees no progress for `patienceNs` decrements the count, perhaps for a living writer that has not run yet.
// So the count is never decremented below 0, and a waiting writer that finds 0 increments it again.
import CStillingWellPlatform
import Glibc
import StillingWellSync

final class WriteLock: Sendable {
    /// Length of a turn while others wait: the limit that is reached first.
    private static let commitsPerTurn: UInt32 = 256
    private static let turnNs: UInt64 = 4_000_000
    /// Time without progress after which a waiting writer is taken for dead.
    private static let patienceNs: Int64 = 1_000_000
    /// Largest plausible count of waiting writers. A larger one in the page is corrected.
    private static let maxWaiting: UInt32 = 4_096
    /// Interval at which a competing writer checks that it is counted.
    private static let countingNs: Int64 = 10_000_000

    private let page: SharedPage
    private let resource = TracedResource(.fileLock, "store write lock")

    /// The action for a thread that ends inside a write block. Used by the thread that owns the lock.
    nonisolated(unsafe) let threadEnd = UnsafeMutablePointer<cp_thread_end>.allocate(capacity: 1)

    init(_ page: SharedPage) {
        self.page = page
        threadEnd.initialize(to: cp_thread_end())
    }

    deinit { threadEnd.deallocate() }

    /// Returns whether the caller is inside the write of the host thread that holds the lock; nil without one.
    private let hosted = Guarded<(@Sendable () -> Bool)?>("hosted write", nil)
    /// Host thread kept between two writes.
    private let idleHost = Guarded<HostThread?>("host of writes", nil)

    /// Ends the idle host thread. The last use of the lock.
    func end() { idleHost.withLock { $0.take() }?.end() }

    /// Waits for the lock within `limit`.
    /// - Returns: whether the previous owner was killed while it held the lock.
    /// - Throws: `writeInsideWrite` if the caller is inside the write that holds the lock; `writeTimedOut`; `storage`.
    func lock(_ limit: TimeLimit = .none) throws(StoreError) -> Bool {
        try traced { () throws(StoreError) in try lockUntraced(limit) }
    }

    @inline(__always)
    private func traced<Result>(_ acquire: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        Tracing.note(.willWait, on: resource)
        do throws(StoreError) {
            let result = try acquire()
            Tracing.note(.acquired, on: resource)
            return result
        } catch {
            Tracing.note(.gaveUp, on: resource)
            throw error
        }
    }

    @inline(__always)
    private func lockUntraced(_ limit: TimeLimit) throws(StoreError) -> Bool {
        var ownerDied = false
        let error = acquire(limit, &ownerDied)
        switch error {
        case 0: return ownerDied
        case EDEADLK: throw .writeInsideWrite
        case ETIMEDOUT: throw .writeTimedOut(after: limit.duration)
        default: throw .storage(operation: "write lock", code: error, reason: String(cString: strerror(error)))
        }
    }

    // MARK: Writes that any thread may end

    /// Takes the lock on a host thread, which owns it, and runs `body` there. The lock is kept unless `body` throws.
    /// - Parameters:
    ///   - isInside: returns whether a caller is inside of this write, and must not wait for it.
    ///   - body: gets whether the previous owner was killed while it held the lock.
    /// - Throws: `writeInsideWrite`, `writeTimedOut`, `noThread`, `storage`, and errors of `body`.
    func lockOnHost<Result>(
        _ limit: TimeLimit, isInside: @escaping @Sendable () -> Bool,
        _ body: (_ ownerDied: Bool) throws(StoreError) -> Result
    ) throws(StoreError) -> (HostThread, Result) {
        if cp_mutex_is_mine(page.mutex) || isInHostedWrite { throw .writeInsideWrite }
        let host = try takeHost()
        do throws(StoreError) {
            let result = try traced { () throws(StoreError) in
                try host.run { () throws(StoreError) in
                    let ownerDied = try lockUntraced(limit)
                    do throws(StoreError) {
                        return try body(ownerDied)
                    } catch {
                        cp_robust_mutex_unlock(page.mutex)
                        throw error
                    }
                }
            }
            hosted.withLock { $0 = isInside }
            return (host, result)
        } catch {
            giveBack(host)
            throw error
        }
    }

    /// Runs `body` on the host thread of a write and releases the lock there. Any thread, one at a time.
    func unlock(_ host: HostThread, _ body: () -> Void) {
        Tracing.note(.released, on: resource)
        hosted.withLock { $0 = nil }
        host.run {
            body()
            cp_robust_mutex_unlock(page.mutex)
        }
        giveBack(host)
    }

    private var isInHostedWrite: Bool { hosted.withLock { $0 }?() ?? false }

    private func takeHost() throws(StoreError) -> HostThread {
        if let host = idleHost.withLock({ $0.take() }) { return host }
        do throws(ThreadError) { return try HostThread(starting: "well-write") } catch {
            throw .noThread(reason: "\(error)")
        }
    }

    private func giveBack(_ host: HostThread) {
        let surplus = idleHost.withLock { idle in
            if idle != nil { return true }
            idle = host
            return false
        }
        if surplus { host.end() }
    }

    // MARK: Waiting

    private func acquire(_ limit: TimeLimit, _ ownerDied: inout Bool) -> Int32 {
        let me = currentThread
        if cp_load32(page.waiting) == 0 || hasTurn(me) {
            let error = cp_robust_mutex_lock(page.mutex, 0, &ownerDied)
            if error == 0 { noteTurn(of: me, isNew: cp_load64(page.turnOwner) != me) }
            if error != ETIMEDOUT { return error }
        } else if cp_mutex_is_mine(page.mutex) {
            return EDEADLK
        }
        if isInHostedWrite { return EDEADLK }
        let deadlineNs = limit.deadlineNs
        var ahead = cp_add32(page.waiting, 1) &- 1
        if ahead > Self.maxWaiting {
            cp_store32(page.waiting, 1)
            ahead = 0
        }
        defer { cp_subtract_if_positive32(page.waiting) }
        letPass(ahead, until: deadlineNs)
        let error = compete(until: deadlineNs, &ownerDied)
        if error == 0 { noteTurn(of: me, isNew: true) }
        return error
    }

    /// Whether this thread has the turn and may make another commit in it.
    private func hasTurn(_ thread: UInt64) -> Bool {
        cp_load64(page.turnOwner) == thread && cp_load32(page.turnCommits) < Self.commitsPerTurn
            && UInt64(monotonicNs()) &- cp_load64(page.turnStart) < Self.turnNs
    }

    /// Waits until a number of turns have begun, or the deadline has passed. Without progress, counts a turn as begun.
    private func letPass(_ turns: UInt32, until deadlineNs: Int64) {
        var toPass = turns
        var seen = cp_load32(page.turn)
        while toPass > 0 {
            let remainingNs = deadlineNs - monotonicNs()
            if remainingNs <= 0 { return }
            let commits = cp_load32(page.turnCommits)
            _ = cp_futex_wait_as(page.turn, seen, min(remainingNs, Self.patienceNs), Self.bit(ofTurn: seen &+ toPass))
            let turn = cp_load32(page.turn)
            if turn != seen {
                toPass -= min(toPass, turn &- seen)
                seen = turn
            } else if cp_mutex_is_free(page.mutex), cp_load32(page.turnCommits) == commits {
                toPass -= 1
                cp_subtract_if_positive32(page.waiting)
            }
            countAgain()
        }
    }

    /// Waits until the turns of the currently waiting writers have begun. Must not be called with the lock held.
    /// - Parameter ns: maximum wait in nanoseconds.
    func letWaitingPass(ns: Int64) {
        let waiting = cp_load32(page.waiting)
        guard waiting > 0, waiting <= Self.maxWaiting else { return }
        let last = cp_load32(page.turn) &+ waiting
        let deadlineNs = monotonicNs() + ns
        while cp_load32(page.waiting) > 0 {
            let turn = cp_load32(page.turn)
            let remainingNs = deadlineNs - monotonicNs()
            if Int32(bitPattern: last &- turn) <= 0 || remainingNs <= 0 { return }
            _ = cp_futex_wait_as(page.turn, turn, remainingNs, Self.bit(ofTurn: last))
        }
    }

    private func compete(until deadlineNs: Int64, _ ownerDied: inout Bool) -> Int32 {
        while true {
            let remainingNs = max(0, deadlineNs - monotonicNs())
            let error = cp_robust_mutex_lock(page.mutex, min(remainingNs, Self.countingNs), &ownerDied)
            if error != ETIMEDOUT || remainingNs <= Self.countingNs { return error }
            countAgain()
        }
    }

    private func countAgain() { if cp_load32(page.waiting) == 0 { _ = cp_add32(page.waiting, 1) } }

    /// Begins a turn, or counts a further commit in the current one. Requires the mutex.
    private func noteTurn(of thread: UInt64, isNew: Bool) {
        guard isNew else {
            cp_store32(page.turnCommits, cp_load32(page.turnCommits) &+ 1)
            return
        }
        cp_store64(page.turnOwner, thread)
        cp_store32(page.turnCommits, 1)
        cp_store64(page.turnStart, UInt64(monotonicNs()))
        let turn = cp_add32(page.turn, 1)
        if cp_load32(page.waiting) > 0 { cp_futex_wake_some(page.turn, Self.bit(ofTurn: turn)) }
    }

    private static func bit(ofTurn turn: UInt32) -> UInt32 { 1 << (turn % 32) }

    /// Identity of this thread among all processes: its process, and the address of its control block, which is aligned
    /// to 64 bytes and below 2^47.
    private var currentThread: UInt64 { UInt64(pthread_self()) >> 6 | process << 41 }
    private let process = UInt64(getpid())

    /// Process of the writer that had the last turn, or nil if there was none.
    var lastOwner: pid_t? {
        let process = pid_t(cp_load64(page.turnOwner) >> 41)
        return process == 0 ? nil : process
    }

    func unlock() {
        Tracing.note(.released, on: resource)
        cp_robust_mutex_unlock(page.mutex)
    }
}
