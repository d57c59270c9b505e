// Time and medians of small measurements. Pure but for the clock.
import Glibc

enum Timing {
    static func nowNs() -> Int64 { read(CLOCK_MONOTONIC) }
    static func processNs() -> Int64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// ns per call over a run of them.
    static func perCallNs(_ count: Int, _ body: (Int) -> Void) -> Double {
        let startNs = nowNs()
        for index in 0..<count { body(index) }
        return Double(nowNs() - startNs) / Double(count)
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    static func shown(_ value: Double) -> String {
        value < 100 ? "\((value * 100).rounded() / 100)" : "\(Int(value))"
    }
}
