// Which gates counts have told: a clock's pairs are dear, and go first to what nothing else can tell. Pure.
import TidegaugeSpec

extension ComparedSubject {
    /// Whether every point of the subject was counted, both sides and the base again, with a verdict, and instructions are
    /// what its gate measures. Waiting is not among them, so no latency, rate or staleness is ever told; nor are bytes and
    /// events, which a few pairs decide.
    func isTold(by counted: [CountedRow]) -> Bool {
        // Service time is nearly CPU, and holds the waiting for a lock and a disk all the same.
        guard let gate = Metric(rawValue: gate), gate.entry.kind == .processor, gate != .writeServiceTime else {
            return false
        }
        return points.allSatisfy { point in
            let rows = counted.filter { ($0.scenario, $0.driver, $0.variant) == (scenario, driver, point.variant) }
            return !rows.isEmpty && rows.allSatisfy { $0.verdict != .inconclusive }
        }
    }
}
