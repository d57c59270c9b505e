// Counters of the engine over the load, warm-up included. They are read before the first commit and after the wait for
// deliveries. At the start of the measured window, commits would be under way.
import TidegaugeDriver
import TidegaugeMeasure

final class CounterWindow: Companion {
    private let store: any WorkCounting
    private let start: CounterReading

    /// Reads the counters. Returns nil if the store is no `WorkCounting`.
    init?(_ store: any DrivenStore) throws {
        guard let store = store as? any WorkCounting else { return nil }
        (self.store, start) = (store, try CounterReading(store))
    }

    func end(into findings: inout Findings) throws {
        findings.counters = try CounterReading(store).growth(since: start)
    }
}
