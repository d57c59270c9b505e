// How long a child may say nothing before it counts as hung. It says something at the start of every phase and twice a
// second while it measures; the child itself looks for hangs of single threads and is quicker.
import TidegaugeSpec
import TidegaugeTrial

enum Timeouts {
    /// Inserting or comparing a row, generously: a loaded machine and a debug build.
    private static let nsPerItem: Int64 = 200_000
    private static let nsPerObserver: Int64 = 10_000_000
    /// What a child takes to look at a hang and to write it down, on a machine that has no core for it.
    private static let nsPerReport: Int64 = 5_000_000_000
    /// Until agents have been reached, have opened the store and are ready, or have sent what was observed there; the child itself
    /// is quicker.
    private static let nsOfAgents: Int64 = 120_000_000_000

    /// Where the child is at work after all that time, it gets it some more times.
    static func deadline(_ phase: TrialProgress.Phase, _ spec: TrialSpec, of child: Int32) -> HangDeadline {
        HangDeadline(timeoutNs: limitNs(phase, spec), mostExtensions: 8, child: child)
    }

    private static func limitNs(_ phase: TrialProgress.Phase, _ spec: TrialSpec) -> Int64 {
        let items = Int64(spec.dataset.items) * nsPerItem
        let observers = Int64(spec.observers.count + spec.observers.bystanders) * nsPerObserver
        let agents = spec.writers.hosts != nil || spec.writers.process == .own ? nsOfAgents : 0
        switch phase {
        case .measuring: return spec.warmUpNs + 3 * spec.hangTimeoutNs + nsPerReport
        case .loading, .subscribing, .settling, .checking: return items + observers + 10 * spec.hangTimeoutNs + agents
        }
    }
}

/// A signal by its name, and whether a process brings it on itself.
struct SignalName {
    let text: String
    let isTrap: Bool
    /// A check of its own stopped it, and not the processor over a bad address.
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
