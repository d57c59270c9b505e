// The machine and its noise in a few lines of text. Pure.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

enum EnvironmentLines {
    static func lines(_ record: RunRecord) -> [(name: String, value: String)] {
        let environment = record.environment
        let memory = String(format: "%.1f GB", Double(environment.memoryBytes) / 1e9)
        var lines = [
            ("processor", "\(environment.cpuModel), \(environment.cores) cores, \(environment.architecture)"),
            ("memory", memory), ("kernel", environment.kernel),
            ("virtualisation", environment.virtualisation), ("clock source", environment.clocksource),
            ("frequency governor", environment.governor),
            (
                "file systems",
                environment.storeFileSystems.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                    .joined(separator: ", ")
            ),
            ("build", "\(environment.compiler), \(environment.buildConfiguration)"),
            ("load at the start", environment.loadAverage.map { "\($0)" }.joined(separator: ", ")),
        ]
        lines += (record.header.engineRemarks ?? [:]).sorted { $0.key < $1.key }.map { name, remarks in
            ("engine \(name)", remarks.joined(separator: "; "))
        }
        lines += beforeTrials(environment)
        lines += noise(environment)
        let hiccups = record.rows.filter { $0.figure.metric == .harnessHiccup && $0.figure.statistic == .p99 }
        if let typical = median(hiccups.compactMap(\.figure.value)) {
            lines.append(("late wake-ups, p99", Humanised.text(typical, unit: "ns") + " (median over trials)"))
        }
        return lines
    }

    /// Load of the machine before the first trial, and the yardsticks.
    private static func beforeTrials(_ environment: EnvironmentReport) -> [(String, String)] {
        var lines: [(String, String)] = []
        if let load = environment.startLoad, let first = load.busyShareAtFirst {
            var text = "\(Humanised.share(first)) of the processors' time"
            if load.waitedNs > 0, let busyShare = load.busyShare {
                let waited = Humanised.text(Double(load.waitedNs), unit: "ns")
                text += ", \(Humanised.share(busyShare)) after \(waited) of waiting"
            }
            lines.append(("busy before the first trial", text))
        }
        for (yardstick, reading) in (environment.yardsticks ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let times = [("start", reading.beforeNs), ("end", reading.afterNs)].compactMap { when, ns in
                ns.map { "\(Humanised.text($0, unit: "ns")) at the \(when)" }
            }
            let remark =
                reading.failure.map { ["could not be taken: \($0)"] }
                ?? (reading.isSteady == false ? ["not steady"] : [])
            lines.append(("yardstick \(yardstick.rawValue)", (times + remark).joined(separator: ", ")))
        }
        return lines
    }

    /// Differences of the kernel's counters between start and end.
    private static func noise(_ environment: EnvironmentReport) -> [(String, String)] {
        guard let after = environment.pressureAfter else { return [("noise", "the run has not ended")] }
        let before = environment.pressureBefore
        func since(_ old: Int64?, _ new: Int64?) -> String? {
            guard let old, let new else { return nil }
            return Humanised.text(Double(new) - Double(old), unit: "ns")
        }
        let switches = Int(nearest: Double(after.involuntarySwitches) - Double(before.involuntarySwitches))
        let times = [
            ("stolen by the hypervisor", since(before.stealNs, after.stealNs)),
            ("waiting for a processor", since(before.cpuSomeNs, after.cpuSomeNs)),
            ("waiting for memory", since(before.memorySomeNs, after.memorySomeNs)),
            ("waiting for disks", since(before.ioSomeNs, after.ioSomeNs)),
        ]
        return times.compactMap { name, value in value.map { (name, $0) } }
            + [("involuntary switches", "\(switches)")]
    }
}
