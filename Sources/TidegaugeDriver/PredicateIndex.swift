// Finds the queries that a row matches. Used by the harness, to know which observers a commit affects, and by drivers
// that match rows to queries themselves. Immutable after `init`; any thread.
import StillingWellBasis

extension Query {
    /// Whether a row with this key, group and score is in the query.
    public func matches(key: Int64, group rowGroup: Int64, score: Int64) -> Bool {
        if let group, group != rowGroup { return false }
        if let keys, !keys.contains(key) { return false }
        if let scores, !scores.contains(score) { return false }
        return true
    }
}

/// A static index over queries. Results are positions in the array of queries.
public struct PredicateIndex: Sendable {
    private let queries: [Query]
    /// Bounds of the score intervals, ascending. Interval i begins at `cuts[i]`.
    private var cuts: ContiguousArray<Int64> = []
    /// Queries whose only condition is a score range that covers interval i.
    private var byInterval: [[Int32]] = []
    private var byGroup: [Int64: [Int32]] = [:]
    /// Queries with a range of keys, which are evaluated one by one.
    private var byKey: [Int32] = []
    private var everywhere: [Int32] = []

    /// O(q log q) for q queries whose ranges do not overlap, O(q²) at worst.
    public init(_ queries: [Query]) {
        self.queries = queries
        let ranged = queries.indices.filter {
            queries[$0].group == nil && queries[$0].keys == nil && queries[$0].scores != nil
        }
        cuts = ContiguousArray(
            Set(ranged.flatMap { [queries[$0].scores!.lowerBound, queries[$0].scores!.upperBound] }).sorted())
        byInterval = Array(repeating: [], count: cuts.count)
        for index in queries.indices {
            let query = queries[index]
            if query.keys != nil {
                byKey.append(Int32(index))
            } else if let group = query.group {
                byGroup[group, default: []].append(Int32(index))
            } else if let scores = query.scores {
                var interval = upperBound(scores.lowerBound) - 1
                while interval < cuts.count, cuts[interval] < scores.upperBound {
                    byInterval[interval].append(Int32(index))
                    interval += 1
                }
            } else {
                everywhere.append(Int32(index))
            }
        }
    }

    /// Calls `body` once per query that the row matches. O(log q + matches + queries of the group + queries with a
    /// range of keys).
    public func forEachMatch(key: Int64, group: Int64, score: Int64, _ body: (Int) -> Void) {
        for index in everywhere { body(Int(index)) }
        let interval = upperBound(score) - 1
        if interval >= 0 {
            for index in byInterval[interval] { body(Int(index)) }
        }
        if !byGroup.isEmpty, let indices = byGroup[group] {
            for index in indices where queries[Int(index)].matches(key: key, group: group, score: score) {
                body(Int(index))
            }
        }
        for index in byKey where queries[Int(index)].matches(key: key, group: group, score: score) { body(Int(index)) }
    }

    /// Returns the index of the first cut above `score`.
    private func upperBound(_ score: Int64) -> Int { cuts.partitioningIndex { $0 > score } }
}
