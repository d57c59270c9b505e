// Counters around the turns of a counted trial. The processor's counters are read here for each thread, and the
// engine's own for all its work; callgrind writes its counts to files, which the parent process reads.
import CStillingWellPlatform
import Glibc
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Used by the conducting thread.
final class CountedSection {
    /// Timeout of a request to a thread, which can be slow under valgrind on a busy machine.
    private static let askedTimeoutNs: Int64 = 120_000_000_000

    private let counter: InstructionCounter
    /// The threads to count. `descriptor` is that of the hardware counter; nil under callgrind.
    private var threads: [(tid: Int32, role: ThreadRole, descriptor: Int32?)] = []
    private var before: [Int32: CountAccount.Amounts] = [:]
    private var atRest: [String: CountAccount.Amounts] = [:]
    private var inCommits: [String: CountAccount.Amounts] = [:]

    /// The engine whose own counters are read; otherwise nil.
    private let engine: (any WorkCounting)?
    private var engineAtRest = CounterReading()
    /// Growth of the engine's counters in the commits.
    private(set) var engineCounters: [String: Int] = [:]

    /// - Parameter roles: roles of all threads except this one.
    init(
        _ counter: InstructionCounter, _ roles: [(tid: Int32, role: ThreadRole)], _ store: any DrivenStore
    ) throws {
        self.counter = counter
        engine = counter == .engine ? store as? any WorkCounting : nil
        switch counter {
        case .hardware:
            for (tid, role) in roles {
                let descriptor = cp_open_instruction_counter(tid)
                guard descriptor >= 0 else {
                    throw TrialFault.harness(
                        "the processor does not count for a thread (errno \(-descriptor)): use callgrind")
                }
                threads.append((tid, role, descriptor))
            }
        case .callgrind:
            guard cp_is_under_callgrind() else {
                throw TrialFault.harness(
                    "the trial does not run under callgrind, or was built without its header: install valgrind and "
                        + "build again")
            }
            cp_callgrind_begin()
            for (tid, role) in roles {
                try Self.ask(tid, "whose it is") { cp_mark_role(tid, Callgrind.number(of: role), $0) }
            }
            threads = roles.map { ($0.tid, $0.role, nil) }
            try dump(.roles)
        case .engine:
            guard let engine, try !engine.counters().isEmpty else {
                throw TrialFault.refused("the engine counts nothing: its facts name no 'counters'")
            }
        }
        _ = try take()
    }

    deinit { for thread in threads { if let descriptor = thread.descriptor { close(descriptor) } } }

    func endRest() throws {
        atRest = try take(.rest)
        if let engine { engineAtRest = try CounterReading(engine) }
    }

    func endCommits() throws {
        inCommits = try take(.commits)
        if let engine { engineCounters = try CounterReading(engine).growth(since: engineAtRest) }
        if counter == .callgrind { cp_callgrind_end() }
    }

    private func take(_ part: Callgrind.Part) throws -> [String: CountAccount.Amounts] {
        let amounts = try take()
        if counter == .callgrind { try dump(part) }
        return amounts
    }

    /// Writes the counts of every existing thread except this one, which conducts.
    private func dump(_ part: Callgrind.Part) throws {
        let own = cp_thread_id()
        for thread in CPUProbe().threads() where thread.tid != own {
            try Self.ask(thread.tid, "what it did") { cp_callgrind_dump(thread.tid, part.rawValue, $0) }
        }
    }

    /// Throws if a thread does not answer. A thread that has ended, as pool workers do, is no error.
    private static func ask(_ tid: Int32, _ what: String, _ answers: (_ timeoutNs: Int64) -> Bool) throws {
        if answers(askedTimeoutNs) || access("/proc/self/task/\(tid)", F_OK) != 0 { return }
        throw TrialFault.harness(
            "thread \(tid) has not said \(what) for \(askedTimeoutNs / 1_000_000_000) s: it blocks SIGPROF, or the machine "
                + "has no time for it")
    }

    /// Returns the instructions of each role since the previous call; 0 under callgrind.
    private func take() throws -> [String: CountAccount.Amounts] {
        var sums: [String: CountAccount.Amounts] = [:]
        for (tid, role, descriptor) in threads {
            let now = CountAccount.Amounts(instructions: try descriptor.map { try Self.count($0) } ?? 0)
            sums[role.rawValue, default: .init()] += now.since(before[tid])
            before[tid] = now
        }
        return sums
    }

    private static func count(_ descriptor: Int32) throws -> Int64 {
        let count = cp_read_instruction_counter(descriptor)
        guard count >= 0 else { throw TrialFault.harness("a counter of the processor cannot be read (errno \(errno))") }
        return count
    }

    func account(commits: Int, affecting: Int, rests: Int) -> CountAccount {
        var account = CountAccount(counter: counter, commits: commits, affectingCommits: affecting, rests: rests)
        (account.inCommits, account.atRest) = (inCommits, atRest)
        return account
    }
}
