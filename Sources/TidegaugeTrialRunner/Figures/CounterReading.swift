// Counts of an engine's own work, and their growth. Both are checked, because the engine need not be one of this
// project.
import TidegaugeDriver
import TidegaugeSpec
import TidegaugeTrial

/// Counts of an engine at a moment, by name.
struct CounterReading {
    private(set) var counts: [String: Int] = [:]

    init() {}

    /// - Throws: the engine's error, or a fault that names a counter that no metric can be named after.
    init(_ store: any WorkCounting) throws {
        counts = try store.counters()
        if let name = counts.keys.sorted().first(where: { !Metric.isCounter($0) }) {
            throw TrialFault.store(
                "the counter '\(name)' must have at most 40 lower-case letters, digits and '_', a letter first")
        }
    }

    /// - Throws: a fault that names a counter which has decreased or was not there.
    func growth(since earlier: CounterReading) throws -> [String: Int] {
        try counts.reduce(into: [:]) { growth, counter in
            guard let before = earlier.counts[counter.key], before <= counter.value else {
                let before = earlier.counts[counter.key].map { "was \($0)" } ?? "did not exist"
                throw TrialFault.store(
                    "the counter '\(counter.key)' is \(counter.value), and \(before) before: it counts since opening")
            }
            growth[counter.key] = counter.value - before
        }
    }
}
