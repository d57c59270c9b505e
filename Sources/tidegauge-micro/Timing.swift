// Time and medians of small measurements. Pure but for the clock.
import Measure

enum Timing {
    /// ns per call over a run of them.
    static func perCallNs(_ count: Int, _ body: (Int) -> Void) -> Double {
        let startNs = MonotonicClock.nowNs()
        for index in 0..<count { body(index) }
        return Double(MonotonicClock.nowNs() - startNs) / Double(count)
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    static func shown(_ value: Double) -> String { value < 100 ? "\((value * 100).rounded() / 100)" : "\(Int(value))" }
}
