// CPU time by role from the start of the measured window until deliveries have ended, without that of some threads of
// the harness (`isHarness`).
import CStillingWellPlatform
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

final class CPUWindow: Companion {
    private let probe = CPUProbe()
    private let conductor = cp_thread_id()
    private let upkeepThreadPrefixes: [String]
    private let writing: any WritingSide
    private var start: CPUSnapshot?
    /// The store if other processes work for it; otherwise nil.
    private let served: (any ServedStore)?
    private var servedStart: [String: Int64]?

    /// Call it on the thread that runs the trial.
    /// - Parameter driver: names the engine's threads by their prefixes.
    init(_ driver: any StoreDriver, _ store: any DrivenStore, _ writing: any WritingSide) {
        served = store as? any ServedStore
        upkeepThreadPrefixes = driver.capabilities.upkeepThreadPrefixes
        self.writing = writing
    }

    /// Whether a thread's time is subtracted: that of the conducting thread, of the hiccup and wake probes, and of
    /// threads that read an engine's messages.
    private static func isHarness(_ tid: Int32, _ name: String, _ conductor: Int32) -> Bool {
        tid == conductor || name == "hiccup" || name == HarnessThread.engineReader
            || name.hasPrefix(LivenessProbe.wakeFloorPrefix)
    }

    /// Returns the running and waiting times of all threads except the harness's, and of those of child
    /// processes. Call it on the conducting thread. Nil if the kernel does not report them.
    static func runQueue() -> RunQueueReading? {
        let conductor = cp_thread_id()
        return RunQueueProbe.read { tid, name in !isHarness(tid, name, conductor) }
    }

    func begin(_ window: Window) {
        servedStart = served?.serverCPU()
        start = probe.snapshot()
    }

    func end(into findings: inout Findings) {
        guard let start else { return }
        let delta = probe.delta(since: start)
        // A server belongs to the measured engine, so its CPU time is added to that of the process.
        let served = servedSince()
        for (kind, timeNs) in served { findings.counts["server_cpu_ns.\(kind)"] = Int(timeNs) }
        let serverNs = served.values.reduce(0, +)
        let spunNs = writing.spunNs
        let harnessNs = delta.threads.reduce(Int64(0)) { sum, thread in
            Self.isHarness(thread.tid, thread.name, conductor) ? sum + thread.cpuNs : sum
        }
        var roles = delta.byRole { [upkeepThreadPrefixes] name in
            if name.hasPrefix("writer-") { return .writer }
            if name.hasPrefix("observer-") { return .observer }
            return upkeepThreadPrefixes.contains { name.hasPrefix($0) } ? .upkeep : .other
        }
        roles[.other] = max(0, roles[.other]! - harnessNs)
        roles[.writer] = max(0, roles[.writer]! - spunNs)
        findings.cpu.processNs = max(0, delta.processNs - harnessNs - spunNs) + serverNs
        roles[.writer]! += served["writer", default: 0]
        roles[.upkeep]! += serverNs - served["writer", default: 0]
        findings.cpu.roleNs = Dictionary(uniqueKeysWithValues: roles.map { ($0.key.rawValue, $0.value) })
        (findings.cpu.harnessNs, findings.cpu.spunNs) = (harnessNs, spunNs)
        (findings.cpu.commits, findings.cpu.affectingCommits) = (findings.commits, findings.affectingCommits)
    }

    /// Returns the growth of the server's CPU time by kind of process.
    private func servedSince() -> [String: Int64] {
        guard let before = servedStart, let now = served?.serverCPU() else { return [:] }
        return now.reduce(into: [:]) { $0[$1.key] = max(0, $1.value - before[$1.key, default: 0]) }
    }
}
