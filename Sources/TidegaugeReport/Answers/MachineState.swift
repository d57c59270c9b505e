// Whether the machine was quiet, in a sentence, and the results of the limits. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct MachineState {
    /// Median p99 of the lateness of wake-ups above which it is reported.
    private static let lateNs = 100_000.0

    /// Disturbances as phrases; empty on a quiet machine, and for a counted run.
    let disturbances: [String]
    /// Processor and virtualisation.
    let facts: [String]
    /// Summary of the limits; nil if none was judged.
    let limits: String?
    private let isCounted: Bool

    init(_ record: RunRecord) {
        let environment = record.environment
        var disturbances: [String] = []
        if let start = environment.startLoad, start.isBusy, let load = start.busyShare {
            disturbances.append("\(Humanised.share(load)) of the processors' time taken by others at the start")
        }
        for (yardstick, reading) in (environment.yardsticks ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if let obstacle = reading.obstacle { disturbances.append("\(yardstick.rawValue) \(obstacle)") }
        }
        let stolenNs = environment.pressureAfter.flatMap { after -> Double? in
            guard let old = environment.pressureBefore.stealNs, let new = after.stealNs else { return nil }
            return Double(new) - Double(old)
        }
        let measuredNs = record.trials.reduce(0.0) { $0 + Double($1.spec.warmUpNs) + Double($1.spec.durationNs) }
        if let stolenNs, stolenNs > NoiseLimits().mostStealShare * measuredNs * Double(max(environment.cores, 1)),
            stolenNs > 0
        {
            disturbances.append("\(Humanised.text(stolenNs, unit: "ns")) stolen by the hypervisor")
        }
        let hiccups = record.rows.filter { $0.figure.metric == .harnessHiccup && $0.figure.statistic == .p99 }
        let lateNs = median(hiccups.compactMap(\.figure.value))
        if let lateNs, lateNs > Self.lateNs {
            disturbances.append("wake-ups \(Humanised.text(lateNs, unit: "ns")) late (p99)")
        }
        let noisy = Set(record.rows.filter { $0.figure.flags.contains { $0.word == .noisy } }.map { TrialKey($0) })
        if !noisy.isEmpty { disturbances.append("\(Humanised.count(noisy.count, "trial")) disturbed") }
        // Instruction counts do not depend on the load.
        isCounted = record.header.counter != nil
        self.disturbances = isCounted ? [] : disturbances
        facts = [
            "\(environment.cpuModel), \(Humanised.count(environment.cores, "core"))",
            environment.virtualisation == "none" ? "" : environment.virtualisation,
        ].filter { !$0.isEmpty }
        limits = Self.limits(record)
    }

    private static func limits(_ record: RunRecord) -> String? {
        guard !record.judgements.isEmpty else { return nil }
        let (kept, all) = (record.judgements.count { $0.verdict == .kept }, record.judgements.count)
        let broken = record.judgements.count { $0.verdict == .broken }
        let unknown = all - kept - broken
        return ["\(kept) of \(all) limits hold"]
            .appending(broken > 0 ? "\(broken) broken" : nil)
            .appending(unknown > 0 ? "\(unknown) cannot be judged here" : nil).joined(separator: ", ")
    }

    /// State and facts of the machine, in two sentences.
    var sentence: String {
        if isCounted { return "\(facts.joined(separator: ", ")). Instruction counts do not depend on its load." }
        let state = disturbances.isEmpty ? "quiet" : "noisy: \(disturbances.joined(separator: ", "))"
        return "\(state) (\(facts.joined(separator: ", "))). Timings are valid beside each other, not beside another "
            + "machine's."
    }
}

extension [String] {
    fileprivate func appending(_ text: String?) -> [String] { self + [text].compactMap { $0 } }
}
