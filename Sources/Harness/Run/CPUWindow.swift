// CPU time of the measured window by role, with the harness's own share taken off.
import CPlatform
import Measure
import StoreDriver

/// Opened at the start of the measured window, on the thread that runs the trial.
struct CPUWindow {
    private static let probe = CPUProbe()
    private let conductor = cp_thread_id()
    private let start = CPUWindow.probe.snapshot()

    /// Threads that wait for the trial, or measure beside it.
    private static func isHarness(_ tid: Int32, _ name: String, _ conductor: Int32) -> Bool {
        tid == conductor || name == "hiccup" || name.hasPrefix(WakeProbe.threadPrefix)
    }

    /// Who ran and who waited, of all threads but those; on the conducting thread. nil where the kernel does not say.
    static func runQueue() -> RunQueueReading? {
        let conductor = cp_thread_id()
        return RunQueueProbe.read { tid, name in !isHarness(tid, name, conductor) }
    }

    /// - Parameter driver: names the threads that belong to the engine.
    func close(_ driver: any StoreDriver, spunNs: Int64, commits: Int, affectingCommits: Int) -> CPUAccount {
        let delta = Self.probe.delta(since: start)
        let upkeep = driver.capabilities.upkeepThreadPrefixes
        let harnessNs = delta.threads.reduce(Int64(0)) { sum, thread in
            Self.isHarness(thread.tid, thread.name, conductor) ? sum + thread.cpuNs : sum
        }
        var roles = delta.byRole { name in
            if name.hasPrefix("writer-") { return .writer }
            if name.hasPrefix("observer-") { return .observer }
            return upkeep.contains { name.hasPrefix($0) } ? .upkeep : .other
        }
        roles[.other] = max(0, roles[.other]! - harnessNs)
        roles[.writer] = max(0, roles[.writer]! - spunNs)
        return CPUAccount(
            processNs: max(0, delta.processNs - harnessNs - spunNs),
            roleNs: Dictionary(uniqueKeysWithValues: roles.map { ($0.key.rawValue, $0.value) }),
            harnessNs: harnessNs, spunNs: spunNs, commits: commits, affectingCommits: affectingCommits)
    }
}
