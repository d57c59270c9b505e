// Commits that were due but not made, because their writer was late for so long that it gave up. Without giving up, a
// trial at ten times the sustainable rate would last ten times as long. Missed commits count as samples with a lower
// bound; omitting them would make overloaded engines look faster. Pure.
import TidegaugeSpec

struct MissedCommit: Sendable, Equatable {
    var dueNs: Int64
    var writer: Int
    /// Indices in `QueryAssignment.queries` of the queries that the commit would have affected.
    var queries: Set<Int> = []

    /// Returns the rest of the schedule.
    /// - Parameter made: number of commits made by each writer.
    /// - Returns: the missed commits by due time.
    static func rest(of spec: TrialSpec, _ window: Window, made: [Int]) -> [MissedCommit] {
        guard spec.writers.load == .open, !made.isEmpty else { return [] }
        // Consecutive writers share one schedule, and the rest belongs to the last one.
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

    /// Time in ns after the measured window in which a late writer continues: the length of the window, at least 1 s,
    /// so that a short burst is worked off. The length of an injected fault is added.
    var overrunNs: Int64 { max(durationNs, Self.shortestOverrunNs) + fault.lengthNs }

    /// Earliest time in ns from the start of the measured window at which a late writer gives up.
    var givesUpNs: Int64 { durationNs + overrunNs }
}
