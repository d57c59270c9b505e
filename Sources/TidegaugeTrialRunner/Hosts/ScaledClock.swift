// Monotonic clock as an agent shows it: the machine's own, or one that runs faster by a known part. Pure.
import TidegaugeMeasure

struct ScaledClock: Sendable {
    private static let millionths: Int64 = 1_000_000

    /// In millionths of its own time; 0: as it is.
    let fasterPPM: Int

    var nowNs: Int64 { shown(MonotonicClock.nowNs()) }

    /// What it shows when the machine's clock shows `ns`.
    func shown(_ ns: Int64) -> Int64 {
        fasterPPM == 0
            ? ns
            : ns + ns / Self.millionths * Int64(fasterPPM) + ns % Self.millionths * Int64(fasterPPM) / Self.millionths
    }

    /// The machine's clock when it shows `ns`, to a nanosecond.
    func own(_ ns: Int64) -> Int64 {
        guard fasterPPM != 0 else { return ns }
        let whole = Self.millionths + Int64(fasterPPM)
        return ns / whole * Self.millionths + ns % whole * Self.millionths / whole
    }
}
