// Gates that counts of instructions have decided. Pairs are expensive, so a budget serves other gates first. Pure.
import TidegaugeSpec

extension ComparedSubject {
    /// Returns whether every point of the subject was counted with a verdict, and the gate measures CPU time and is not
    /// `write_service_time`.
    /// Counts do not include waiting, so latency, rate and staleness are never decided. Bytes and events need a few
    /// pairs.
    func isTold(by counted: [CountedRow]) -> Bool {
        // Service time is mostly CPU time but also includes waiting for a lock and a disk.
        guard let gate = Metric(rawValue: gate), gate.entry.kind == .processor, gate != .writeServiceTime else {
            return false
        }
        return points.allSatisfy { point in
            // Counters of an engine do not include its CPU time.
            let rows = counted.filter {
                ($0.scenario, $0.driver, $0.variant) == (scenario, driver, point.variant) && !$0.metric.isOfEngine
            }
            return !rows.isEmpty && rows.allSatisfy { $0.verdict != .inconclusive }
        }
    }
}
