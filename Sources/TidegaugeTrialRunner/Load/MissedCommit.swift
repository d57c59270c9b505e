// Commits that were due and are not made, because their writer was late for so long that it gave up: otherwise a trial at
// ten times the rate an engine can take lasts ten times as long. They count, as samples known to be at least so late;
// leaving them out would make the most overloaded engine look fastest. Pure.
import TidegaugeSpec

struct MissedCommit: Sendable, Equatable {
    var dueNs: Int64
    var writer: Int
    /// Those it would have affected; by their place in the plan.
    var queries: Set<Int> = []

    /// What is left of the schedule.
    /// - Parameter made: commits of each writer.
    /// - Returns: in the order they were due.
    static func rest(of spec: TrialSpec, _ window: Window, made: [Int]) -> [MissedCommit] {
        guard spec.writers.load == .open, !made.isEmpty else { return [] }
        // Writers that follow one another share one schedule, and the last has what is left.
        let writers =
            spec.writersShareSchedule
            ? [(made.count - 1, made.reduce(0, +))] : made.enumerated().map { ($0, $1) }
        return writers.flatMap { writer, made in
            var schedule = ArrivalSchedule(spec, writer: writer)
            for _ in 0..<made { _ = schedule.next() }
            var rest: [MissedCommit] = []
            while let offsetNs = schedule.next() {
                rest.append(MissedCommit(dueNs: window.startNs + offsetNs, writer: writer))
            }
            return rest
        }.sorted { $0.dueNs < $1.dueNs }
    }
}

extension TrialSpec {
    private static let shortestOverrunNs: Int64 = 1_000_000_000

    /// How long after its measured window a late writer goes on: as long again, and a second at least, so that a short
    /// burst is worked off; and what is done to it on purpose is not held against it.
    var overrunNs: Int64 { max(durationNs, Self.shortestOverrunNs) + fault.lengthNs }

    /// When a late writer gives up at the earliest, from the start of the measured window.
    var givesUpNs: Int64 { durationNs + overrunNs }
}
