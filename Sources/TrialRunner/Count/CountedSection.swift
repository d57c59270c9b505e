// The counters around the turns of a counted trial. The processor's are read here, thread by thread; callgrind writes what it
// has counted to files, which the parent reads.
import CPlatform
import Glibc
import Measure
import Scenario
import Trials

/// Counts from its making on. The conducting thread.
final class CountedSection {
    private static let markTimeoutNs: Int64 = 10_000_000_000

    private let counter: InstructionCounter
    private var threads: [(role: ThreadRole, descriptor: Int32)] = []
    private var atRest: [String: CountAccount.Amounts] = [:]
    private var inCommits: [String: CountAccount.Amounts] = [:]

    /// - Parameter roles: of every thread but this one. Those that begin later are counted by callgrind alone.
    init(_ counter: InstructionCounter, _ roles: [(tid: Int32, role: ThreadRole)]) throws {
        self.counter = counter
        switch counter {
        case .hardware:
            for (tid, role) in roles {
                let descriptor = cp_open_instruction_counter(tid)
                guard descriptor >= 0 else {
                    throw TrialFault.harness(
                        "the processor does not count for a thread (errno \(-descriptor)): use callgrind")
                }
                threads.append((role, descriptor))
            }
        case .callgrind:
            guard cp_is_under_callgrind() else {
                throw TrialFault.harness(
                    "the trial does not run under callgrind, or was built without its header: install valgrind and "
                        + "build again")
            }
            cp_callgrind_begin()
            for (tid, role) in roles where !cp_mark_role(tid, Callgrind.number(of: role), Self.markTimeoutNs) {
                throw TrialFault.harness("thread \(tid) does not say whose it is: it blocks SIGPROF")
            }
            cp_callgrind_dump("\(Callgrind.Part.roles)")
        }
    }

    deinit { for thread in threads { close(thread.descriptor) } }

    func endRest() { atRest = take(.rest, less: [:]) }

    func endCommits() {
        inCommits = take(.commits, less: atRest)
        if counter == .callgrind { cp_callgrind_end() }
    }

    private func take(
        _ part: Callgrind.Part, less before: [String: CountAccount.Amounts]
    ) -> [String: CountAccount.Amounts] {
        if counter == .callgrind {
            cp_callgrind_dump("\(part)")
            return [:]
        }
        var amounts: [String: CountAccount.Amounts] = [:]
        for (role, descriptor) in threads {
            amounts[role.rawValue, default: .init()].instructions += cp_read_instruction_counter(descriptor)
        }
        for (role, earlier) in before { amounts[role]?.instructions -= earlier.instructions }
        return amounts
    }

    func account(commits: Int, affecting: Int, rests: Int) -> CountAccount {
        var account = CountAccount(counter: counter, commits: commits, affectingCommits: affecting, rests: rests)
        (account.inCommits, account.atRest) = (inCommits, atRest)
        return account
    }
}
