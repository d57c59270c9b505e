// The due times of one writer as a function of its seed. An open-loop schedule: it never skips a time, never waits,
// and does not depend on how late the writer is.
import TidegaugeSpec

/// The due times of one writer, ascending, in ns from the start of the measured window (negative: warm-up).
struct ArrivalSchedule: Sendable {
    private let arrivals: WritersSpec.Arrivals
    /// Mean gap in ns between this writer's commits.
    private let gapNs: Double
    private let burst: Int
    /// Uniform arrivals and bursts: due time of the first commit at or after the window's start. Writers are spread
    /// evenly over the time from one commit or burst to the next.
    private let phaseNs: Double
    private let endNs: Double
    /// On-off arrivals: lengths in ns of the phases with and without commits, which alternate from the window's start.
    private let onNs: Double
    private let offNs: Double
    /// Trace: due times of this writer in ns from the window's start.
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
        // Bursts are timed from the window's start, so that a window shorter than their period still holds one.
        let periodNs = gapNs * Double(burst)
        phaseNs = periodNs * Double(writer) / Double(spec.threads)
        switch spec.arrivals {
        case .trace: step = 0
        case .uniform, .poisson, .bursts, .onOff:
            step = Int(((-Double(warmUpNs) - phaseNs) / periodNs).rounded(.up)) * burst
        }
        // For on-off, `atNs` counts busy time only.
        atNs = spec.arrivals == .onOff ? Self.busyNs(-Double(warmUpNs), onNs, offNs) : -Double(warmUpNs)
    }

    /// Makes the schedule of a trial's writer. Consecutive writers in separate processes share one schedule.
    init(_ spec: TrialSpec, writer: Int) {
        let isShared = spec.writersShareSchedule
        var writers = spec.writers
        if isShared { writers.threads = 1 }
        self.init(
            writers, writer: isShared ? 0 : writer, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs,
            seed: spec.seed)
    }

    /// Returns the next due time, or nil at the end of the measured window.
    mutating func next() -> Int64? {
        switch arrivals {
        case .poisson: atNs += random.exponential() * gapNs
        case .uniform, .bursts:
            // Computed from the step instead of summed: a rounded gap would drift over a long run.
            let period = step >= 0 ? step / burst : (step - burst + 1) / burst
            atNs = phaseNs + Double(period) * gapNs * Double(burst)
            step += 1
        case .onOff:
            // Busy time advances at a rate that keeps the mean rate over on and off phases.
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

    /// Converts busy time to time from the window's start; both may be negative.
    private static func timeNs(_ busyNs: Double, _ onNs: Double, _ offNs: Double) -> Double {
        busyNs + (busyNs / onNs).rounded(.down) * offNs
    }

    /// Converts time from the window's start to busy time.
    private static func busyNs(_ ns: Double, _ onNs: Double, _ offNs: Double) -> Double {
        let periods = (ns / (onNs + offNs)).rounded(.down)
        return periods * onNs + min(ns - periods * (onNs + offNs), onNs)
    }
}

extension TrialSpec {
    /// Whether writers run one after another: one writes in a separate process, and if it is killed the next continues.
    var writersShareSchedule: Bool { writers.process == .own && writers.hosts == nil }
}
