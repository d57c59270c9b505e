// Forks the process at times. In the child the inherited store must refuse a read, and a newly opened one must accept a
// commit. The child's end must not release the parent's lock. Only the forking thread exists in the child, so a lock
// that another thread held stays locked. A child that blocks there is killed by its parent.
//
// `lock` guards `kept`. All other state belongs to the thread that runs this type.
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import TidegaugeHangs

/// `fork` of the C library, whose header hides it from Swift.
@_silgen_name("fork")
private func forkProcess() -> pid_t

final class Forker: @unchecked Sendable {
    private enum Outcome: Int32 {
        case fine, inheritedIsRead, refusedOtherwise, cannotOpen

        var text: String {
            switch self {
            case .fine: "it was fine"
            case .inheritedIsRead: "it could read the store that it has inherited"
            case .refusedOtherwise: "the store that it has inherited refuses with another error than openedBeforeFork"
            case .cannotOpen: "it could not open the store and commit"
            }
        }
    }

    /// False under ThreadSanitizer, which supports no threads in the child of a fork. A child there blocks for ever,
    /// with the descriptors and locks that it has inherited.
    static let isPossible = dlsym(nil, "__tsan_init") == nil

    private static let patienceNs: Int64 = 2_000_000_000
    /// CPU time within `patienceNs` from which a child counts as working.
    private static let busyNs: Int64 = 10_000_000
    private let load: Load
    private let lock = TracedMutex("forks")
    /// Versions that children may keep, each with the version by which another process has released it.
    private var kept: [(version: Int, until: Int)] = []
    let heartbeat = Heartbeat("forker")

    init(_ load: Load) { self.load = load }

    func start() -> TracedThread { TracedThread("forker") { [self] in run() } }

    /// Returns the oldest version that running or ended children keep. May be called on any thread.
    func oldestKept(_ newest: Int) -> Int {
        lock.withLock {
            kept.removeAll { $0.until < newest }
            return kept.map(\.version).reduce(newest, min)
        }
    }

    private func run() {
        var random = load.plan.random("forker")
        while !load.isStopping, Self.isPossible {
            heartbeat.beat()
            sleep(us: random.from(200_000...800_000))
            load.gate.enter()
            if !load.isStopping { fork(&random) }
            load.gate.leave()
        }
        heartbeat.end()
    }

    private func fork(_ random: inout SeededRandom) {
        guard let version = load.expectNoError("forker", newest) else { return }
        var childsRandom = load.plan.random("child of \(random.next())")
        lock.withLock { kept.append((version, .max)) }
        let child = forkProcess()
        if child == 0 { _exit(live(&childsRandom).rawValue) }
        guard child > 0 else {
            load.verdict.report(.noError, "forker", "cannot fork: \(String(cString: strerror(errno)))")
            return
        }
        check(child)
        let until = load.expectNoError("forker") { try newest() + Limits.deadReaderCommits }
        lock.withLock { kept[kept.count - 1].until = until ?? .max }
    }

    private func newest() throws -> Int { try load.store.read { Int($0.version) } }

    // MARK: In the child

    private func live(_ random: inout SeededRandom) -> Outcome {
        do {
            _ = try load.store.read { $0.version }
            return .inheritedIsRead
        } catch StoreError.openedBeforeFork {
        } catch {
            FileHandle.standardError.write(Data("a forked child: \(error)\n".utf8))
            return .refusedOtherwise
        }
        do {
            let own = try Store(load.configuration)
            try own.write { try Commit(writer: Plan.forkedWriter, plan: load.plan).make($0, &random) }
            return .fine
        } catch {
            FileHandle.standardError.write(Data("a forked child: \(error)\n".utf8))
            return .cannotOpen
        }
    }

    // MARK: In the parent

    private func check(_ child: pid_t) {
        var status: Int32 = 0
        let giveUpNs = monotonicNs() + Int64(Limits.stallS * 1e9)
        var (lookNs, cpuNs): (Int64, Int64) = (monotonicNs() + Self.patienceNs, 0)
        while waitpid(child, &status, WNOHANG) == 0 {
            heartbeat.beat()
            if monotonicNs() >= lookNs {
                // A child that has used CPU time or is runnable is slow, not blocked.
                let threads = KernelView.threads(of: child)
                let now = threads.reduce(Int64(0)) { $0 + $1.cpuNs }
                let isBusy = now >= cpuNs + Self.busyNs || threads.contains { $0.state == "R" }
                (lookNs, cpuNs) = (lookNs + Self.patienceNs, now)
                if isBusy, lookNs < giveUpNs { continue }
                kill(child, SIGKILL)
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                return load.tally.forksStoodStill.add()
            }
            sleep(us: 500)
        }
        let (signal, code) = (status & 0x7f, (status >> 8) & 0xff)
        let problem =
            signal != 0 ? "it died of signal \(signal)" : Outcome(rawValue: code)?.text ?? "it ended with \(code)"
        load.verdict.expect(.forks, signal == 0 && code == 0, "a forked child", problem)
        load.verdict.expect(
            .forks, !couldBeHadAlone(), "the store", "its parent's lock of the store went with a forked child")
        load.tally.count(.forks)
    }

    /// Whether another process could take the exclusive lock, although this process has the store open.
    private func couldBeHadAlone() -> Bool {
        // The path of the files of an in-memory store is not known here.
        guard load.plan.durability != .memory else { return false }
        let file = open(load.configuration.path + "/shared", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) == 0
    }
}
