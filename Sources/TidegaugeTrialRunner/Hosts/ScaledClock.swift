// The monotonic clock that an agent reports: the machine's own, or one that runs faster by a known ratio. Pure.
import TidegaugeMeasure

struct ScaledClock: Sendable {
    private static let millionths: Int64 = 1_000_000

    /// Parts per million by which it runs faster; 0 for the machine's clock.
    let fasterPPM: Int

    var nowNs: Int64 { shown(MonotonicClock.nowNs()) }

    /// Returns its time when the machine's clock is at `ns`.
    func shown(_ ns: Int64) -> Int64 {
        fasterPPM == 0
            ? ns
            : ns + ns / Self.millionths * Int64(fasterPPM) + ns % Self.millionths * Int64(fasterPPM) / Self.millionths
    }

    /// Returns the machine's time when this clock is at `ns`, to within 1 ns.
    func own(_ ns: Int64) -> Int64 {
        guard fasterPPM != 0 else { return ns }
        let whole = Self.millionths + Int64(fasterPPM)
        return ns / whole * Self.millionths + ns % whole * Self.millionths / whole
    }
}
