// The write lock (level 0): one writer at a time over all threads and processes, robust against killed owners, and
// fair. A mutex alone lets whoever released it take it again at once, and handing it on at every commit costs two
// switches of threads each. So writers take turns: a turn ends after so many commits or so much time, if somebody waits.
// Whoever comes when others wait lets as many turns begin as there are waiting; the last of them is the one before its
// own, and only then does it compete for the mutex, with nobody but that turn's owner.
//
// `page.mutex` is the lock; who has it writes `turnOwner`, `turnCommits` and `turnStart`. `page.waiting` counts who
// waits. A writer killed meanwhile leaves it too high, and those behind it wait for a turn that never comes: whoever
// sees nothing happen for `patienceNs` takes it out of the count, which may be a living one that has not come to run. So
// nobody subtracts from 0, and who waits and finds 0 counts itself again.
import CStillingWellPlatform
import Glibc
import StillingWellSync

final class WriteLock: Sendable {
    /// A turn's length while others wait: whichever is reached first.
    private static let commitsPerTurn: UInt32 = 256
    private static let turnNs: UInt64 = 4_000_000
    /// How long nothing happens before somebody is missed.
    private static let patienceNs: Int64 = 1_000_000
    /// More than this is no count of writers: what is found in the page is not trusted.
    private static let maxWaiting: UInt32 = 4_096
    /// How often a writer that competes makes sure that it is counted.
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

    /// The write of this process that a host thread holds the lock for: whether the caller is inside of it. Nil while there is none.
    private let hosted = Guarded<(@Sendable () -> Bool)?>("hosted write", nil)
    /// A host thread between two writes.
    private let idleHost = Guarded<HostThread?>("host of writes", nil)

    /// Ends the idle host thread. The last use.
    func end() { idleHost.withLock { $0.take() }?.end() }

    /// Waits for the lock, as long as `limit` allows.
    /// - Returns: true when the previous owner was killed holding it.
    /// - Throws: `writeInsideWrite` when the calling thread holds it, `writeTimedOut`.
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
        case ETIMEDOUT: throw .writeTimedOut(seconds: limit.seconds)
        default: throw .storage(operation: "write lock", code: error, reason: String(cString: strerror(error)))
        }
    }

    // MARK: Writes that any thread may end

    /// Waits for the lock on a host thread, which owns it, and runs `body` there. The lock is kept if `body` returns.
    /// - Parameters:
    ///   - isInside: whether a caller is inside of this write, and so must not wait for it.
    ///   - body: is told whether the previous owner was killed holding the lock.
    /// - Throws: `writeInsideWrite`, `writeTimedOut`, `noThread`, and what `body` throws.
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

    /// Runs `body` on the host thread of a write, and gives the lock back there. Any thread, but one at a time.
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

    /// Whether it is this thread's turn, and stays so for a further commit.
    private func hasTurn(_ thread: UInt64) -> Bool {
        cp_load64(page.turnOwner) == thread && cp_load32(page.turnCommits) < Self.commitsPerTurn
            && UInt64(monotonicNs()) &- cp_load64(page.turnStart) < Self.turnNs
    }

    /// Waits until so many turns have begun.
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

    /// Waits until those who wait now have had their turns, all but the last of them to its end. Not holding the lock.
    /// - Parameter ns: for so long at most.
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

    /// Waits for the mutex itself.
    private func compete(until deadlineNs: Int64, _ ownerDied: inout Bool) -> Int32 {
        while true {
            let remainingNs = max(0, deadlineNs - monotonicNs())
            let error = cp_robust_mutex_lock(page.mutex, min(remainingNs, Self.countingNs), &ownerDied)
            if error != ETIMEDOUT || remainingNs <= Self.countingNs { return error }
            countAgain()
        }
    }

    private func countAgain() { if cp_load32(page.waiting) == 0 { _ = cp_add32(page.waiting, 1) } }

    /// Holding the mutex: begins a turn, or counts a further commit in.
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

    /// Tells this thread from every other one, of other processes too: where its record lies, which is aligned to 64
    /// bytes below 2^47, and its process.
    private var currentThread: UInt64 { UInt64(pthread_self()) >> 6 | process << 41 }
    private let process = UInt64(getpid())

    /// The process of the writer that had the last turn.
    var lastOwner: pid_t? {
        let process = pid_t(cp_load64(page.turnOwner) >> 41)
        return process == 0 ? nil : process
    }

    func unlock() {
        Tracing.note(.released, on: resource)
        cp_robust_mutex_unlock(page.mutex)
    }
}
