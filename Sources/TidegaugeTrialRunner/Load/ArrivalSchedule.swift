// When one writer ought to commit, from its seed alone. An open-loop schedule: it never skips, never waits for anyone,
// and does not know how late its writer is.
import TidegaugeSpec

/// The due times of one writer, ascending, in ns from the start of the measured window (negative: warm-up).
struct ArrivalSchedule: Sendable {
    private let arrivals: WritersSpec.Arrivals
    /// Mean gap between this writer's commits.
    private let gapNs: Double
    private let burst: Int
    /// Of the first commit at or after the window's start. Writers are spread evenly over a gap.
    private let phaseNs: Double
    private let endNs: Double
    /// Of on-off: how long commits come and how long none do, one after the other from the window's start.
    private let onNs: Double
    private let offNs: Double
    /// Of a trace: this writer's due times, from the window's start.
    private let trace: [Int64]
    private var step: Int
    private var atNs: Double
    private var random: RandomSource

    init(_ spec: WritersSpec, writer: Int, warmUpNs: Int64, durationNs: Int64, seed: UInt64) {
        arrivals = spec.arrivals
        burst = spec.arrivals == .bursts ? spec.burst : 1
        onNs = Double(spec.onNs)
        offNs = Double(spec.offNs)
        trace = stride(from: writer, to: spec.traceNs.count, by: spec.threads).map { spec.traceNs[$0] - warmUpNs }
        // A trace has no rate.
        gapNs = spec.arrivals == .trace ? 1 : 1e9 * Double(spec.threads) / spec.rateHz
        endNs = Double(durationNs)
        random = RandomSource(seed: seed, stream: 1_000_000 + UInt64(writer))
        // Bursts are anchored at the window's start, so that a window shorter than their period still holds one.
        let periodNs = gapNs * Double(burst)
        phaseNs = periodNs * Double(writer) / Double(spec.threads)
        switch spec.arrivals {
        case .trace: step = 0
        case .uniform, .poisson, .bursts, .onOff:
            step = Int(((-Double(warmUpNs) - phaseNs) / periodNs).rounded(.up)) * burst
        }
        // On-off counts busy time alone and starts in the warm-up's first.
        atNs = spec.arrivals == .onOff ? Self.busyNs(-Double(warmUpNs), onNs, offNs) : -Double(warmUpNs)
    }

    /// Of a trial's writer. Those that follow one another, in a process of their own each, share one schedule.
    init(_ spec: TrialSpec, writer: Int) {
        let isShared = spec.writersShareSchedule
        var writers = spec.writers
        if isShared { writers.threads = 1 }
        self.init(
            writers, writer: isShared ? 0 : writer, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs,
            seed: spec.seed)
    }

    /// nil at the end of the measured window.
    mutating func next() -> Int64? {
        switch arrivals {
        case .poisson: atNs += random.exponential() * gapNs
        case .uniform, .bursts:
            // From the step, not by adding up: a rounded gap would drift over a long run.
            let period = step >= 0 ? step / burst : (step - burst + 1) / burst
            atNs = phaseNs + Double(period) * gapNs * Double(burst)
            step += 1
        case .onOff:
            // Of the time when commits come at all, at a rate that keeps the mean.
            atNs += random.exponential() * gapNs * onNs / (onNs + offNs)
            let dueNs = Self.timeNs(atNs, onNs, offNs)
            return dueNs < endNs ? Int64(dueNs) : nil
        case .trace:
            guard step < trace.count, Double(trace[step]) < endNs else { return nil }
            step += 1
            return trace[step - 1]
        }
        return atNs < endNs ? Int64(atNs) : nil
    }

    /// When so much busy time has passed, from the window's start; negative before it.
    private static func timeNs(_ busyNs: Double, _ onNs: Double, _ offNs: Double) -> Double {
        busyNs + (busyNs / onNs).rounded(.down) * offNs
    }

    /// The busy time that has passed at `ns`.
    private static func busyNs(_ ns: Double, _ onNs: Double, _ offNs: Double) -> Double {
        let periods = (ns / (onNs + offNs)).rounded(.down)
        return periods * onNs + min(ns - periods * (onNs + offNs), onNs)
    }
}

extension TrialSpec {
    /// Whether writers follow one another: one writes, in a process of its own, and where it is killed the next goes on.
    var writersShareSchedule: Bool { writers.process == .own && writers.hosts == nil }
}
