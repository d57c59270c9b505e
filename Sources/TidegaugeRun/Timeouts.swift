// Time limits for silent children.
import TidegaugeSpec
import TidegaugeTrial

enum Timeouts {
    /// Time to insert or compare a row on a loaded machine with a debug build.
    private static let nsPerItem: Int64 = 200_000
    private static let nsPerObserver: Int64 = 10_000_000
    /// Time to inspect and report a hang on a machine without a free core.
    private static let nsPerReport: Int64 = 5_000_000_000
    /// Time for agents to be reached and open the store, or to send their records.
    private static let nsOfAgents: Int64 = 120_000_000_000

    /// Returns the deadline of a phase. It is extended up to 8 times while the child is at work.
    static func deadline(_ phase: TrialProgress.Phase, _ spec: TrialSpec, of child: Int32) -> HangDeadline {
        HangDeadline(timeoutNs: limitNs(phase, spec), mostExtensions: 8, child: child)
    }

    private static func limitNs(_ phase: TrialProgress.Phase, _ spec: TrialSpec) -> Int64 {
        let items = Int64(spec.dataset.items) * nsPerItem
        let observers = Int64(spec.observers.count + spec.observers.idleQueries) * nsPerObserver
        let agents = spec.writers.hosts != nil || spec.writers.process == .own ? nsOfAgents : 0
        switch phase {
        case .measuring: return spec.warmUpNs + 3 * spec.hangTimeoutNs + nsPerReport
        case .loading, .subscribing, .settling, .checking: return items + observers + 10 * spec.hangTimeoutNs + agents
        }
    }
}

/// Name of a signal, and whether a process causes it itself.
struct SignalName {
    let text: String
    let isTrap: Bool
    /// Whether a check in the program stopped it, not an invalid memory access.
    let isDeliberate: Bool

    init(_ number: Int32) {
        let traps: [Int32: String] = [
            4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV", 31: "SIGSYS",
        ]
        let others: [Int32: String] = [
            1: "SIGHUP", 2: "SIGINT", 9: "SIGKILL", 13: "SIGPIPE", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
        ]
        isTrap = traps[number] != nil
        isDeliberate = [4, 5, 6].contains(number)
        text = traps[number] ?? others[number] ?? "signal \(number)"
    }
}
