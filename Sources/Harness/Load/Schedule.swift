// When one writer ought to commit, from its seed alone. An open-loop schedule: it never skips, never waits for anyone,
// and does not know how late its writer is.
import Scenario

/// The due times of one writer, ascending, in ns from the start of the measured window (negative: warm-up).
struct Schedule: Sendable {
    private let arrivals: WritersSpec.Arrivals
    /// Mean gap between this writer's commits.
    private let gapNs: Double
    private let burst: Int
    /// Of the first commit at or after the window's start. Writers are spread evenly over a gap.
    private let phaseNs: Double
    private let endNs: Double
    private var step: Int
    private var atNs: Double
    private var random: RandomSource

    init(_ spec: WritersSpec, writer: Int, warmUpNs: Int64, durationNs: Int64, seed: UInt64) {
        arrivals = spec.arrivals
        burst = spec.arrivals == .bursts ? spec.burst : 1
        gapNs = 1e9 * Double(spec.threads) / spec.rateHz
        endNs = Double(durationNs)
        random = RandomSource(seed: seed, stream: 1_000_000 + UInt64(writer))
        // Bursts are anchored at the window's start, so that a window shorter than their period still holds one.
        let periodNs = gapNs * Double(burst)
        phaseNs = periodNs * Double(writer) / Double(spec.threads)
        step = Int(((-Double(warmUpNs) - phaseNs) / periodNs).rounded(.up)) * burst
        atNs = -Double(warmUpNs)
    }

    /// nil at the end of the measured window.
    mutating func next() -> Int64? {
        switch arrivals {
        case .poisson:
            atNs += random.exponential() * gapNs
        case .uniform, .bursts:
            // From the step, not by adding up: a rounded gap would drift over a long run.
            let period = step >= 0 ? step / burst : (step - burst + 1) / burst
            atNs = phaseNs + Double(period) * gapNs * Double(burst)
            step += 1
        }
        return atNs < endNs ? Int64(atNs) : nil
    }
}
