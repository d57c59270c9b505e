// The true history of a trial: all commits in version order, and for each query the commits that affected it. It is
// computed after the measurement by running the writers' generators again.
import StillingWellBasis
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// One commit at its position in version order.
struct Commit: Sendable {
    var record: CommitRecord
    var writer: Int
}

/// The changes of one query's rows in version order.
struct QueryHistory: Sendable {
    /// A row's position in the query's order before and after commits; `TableModel.absent` outside the query.
    struct Touch: Sendable {
        var key: Int64
        var before: Int64
        var after: Int64
        /// The row's column `stamp` after the commit.
        var stamp: Int64 = 0

        var wasIn: Bool { before != TableModel.absent }
        var isIn: Bool { after != TableModel.absent }
    }

    /// Indices into `History.commits` of the commits that affect the query, ascending.
    private(set) var commits: ContiguousArray<Int32> = []
    /// Touches of `commits[i]` are `touches[starts[i] ..< starts[i + 1]]`, at most one for each row.
    private(set) var starts: ContiguousArray<Int> = [0]
    private(set) var touches: ContiguousArray<Touch> = []

    mutating func append(_ touch: Touch, commit: Int) {
        if commits.last != Int32(commit) {
            commits.append(Int32(commit))
            starts.append(touches.count)
        }
        touches.append(touch)
        starts[starts.count - 1] = touches.count
    }

    /// Returns the number of affecting commits with an index less than `commit`.
    func affecting(before commit: Int) -> Int { commits.partitioningIndex { Int($0) >= commit } }

    /// Returns the net effect of a range of affecting commits: one touch per row, none if it only came and went.
    func net(_ range: Range<Int>) -> [Touch] {
        let all = touches[starts[range.lowerBound]..<starts[range.upperBound]]
        if range.count <= 1 { return Array(all) }
        var places: [Int64: Int] = [:]
        var merged: [Touch] = []
        for touch in all {
            if let place = places[touch.key] {
                merged[place].after = touch.after
                merged[place].stamp = touch.stamp
            } else {
                places[touch.key] = merged.count
                merged.append(touch)
            }
        }
        return merged.filter { $0.wasIn || $0.isIn }
    }
}

struct History: Sendable {
    /// By version, ascending.
    let commits: ContiguousArray<Commit>
    /// Parallel to `QueryAssignment.queries`.
    let queries: [QueryHistory]
    /// The table after the last commit.
    let table: TableModel
    /// Missed commits. Their effects are computed as if they had come after all commits.
    let missed: [MissedCommit]
    /// A sentence about a version that two commits have, or that decreased within a writer; nil if there is none.
    let disorder: String?

    /// - Parameters:
    ///   - writers: records of each writer in commit order.
    ///   - missed: by due time.
    init(
        spec: TrialSpec, dataset: Dataset, plan: QueryAssignment, writers: [some Collection<CommitRecord>],
        missed: [MissedCommit] = []
    ) {
        var commits: ContiguousArray<Commit> = []
        for (writer, records) in writers.enumerated() {
            commits.append(contentsOf: records.lazy.map { Commit(record: $0, writer: writer) })
        }
        // The sort is stable, so a writer's commits keep their order even if the engine's versions do not.
        commits.sort { $0.record.version < $1.record.version }
        self.commits = commits
        disorder = Self.disorder(commits)

        var table = TableModel(dataset)
        var queries = Array(repeating: QueryHistory(), count: plan.queries.count)
        let index = PredicateIndex(plan.queries)
        var generators = writers.indices.map {
            ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: $0)
        }
        let rows = generators.first?.count ?? 1
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: rows)
        defer { changes.deallocate() }
        var before: [(key: Int64, row: TableModel.Row)] = []
        var seen: Set<Int64> = []
        /// Replays the writer's next commit on `table`.
        func replay(_ writer: Int, _ table: inout TableModel, _ touched: (Int, QueryHistory.Touch) -> Void) {
            let commit = generators[writer].fill(changes)
            before.removeAll(keepingCapacity: true)
            seen.removeAll(keepingCapacity: true)
            for change in commit {
                if rows == 1 || seen.insert(change.item.key).inserted {
                    before.append((change.item.key, table[change.item.key]))
                }
                table.apply(change)
            }
            for (key, old) in before {
                Self.route(key, table.group(of: key), old, table[key], plan.queries, index, touched)
            }
        }
        for (position, commit) in commits.enumerated() {
            replay(commit.writer, &table) { query, touch in queries[query].append(touch, commit: position) }
        }
        (self.queries, self.table) = (queries, table)
        self.missed = missed.map { commit in
            var commit = commit
            replay(commit.writer, &table) { query, _ in commit.queries.insert(query) }
            return commit
        }
    }

    /// Calls `body` for every query that contains the row before or after the change.
    private static func route(
        _ key: Int64, _ group: Int64, _ old: TableModel.Row, _ new: TableModel.Row, _ queries: [Query],
        _ index: PredicateIndex, _ body: (Int, QueryHistory.Touch) -> Void
    ) {
        let absent = TableModel.absent
        if old.score != absent {
            index.forEachMatch(key: key, group: group, score: old.score) { query in
                let stays = new.score != absent && queries[query].matches(key: key, group: group, score: new.score)
                let order = queries[query].order
                let after = stays ? order.position(of: new) : absent
                body(query, .init(key: key, before: order.position(of: old), after: after, stamp: new.stamp))
            }
        }
        if new.score != absent {
            index.forEachMatch(key: key, group: group, score: new.score) { query in
                if old.score != absent, queries[query].matches(key: key, group: group, score: old.score) { return }
                let after = queries[query].order.position(of: new)
                body(query, .init(key: key, before: absent, after: after, stamp: new.stamp))
            }
        }
    }

    private static func disorder(_ commits: ContiguousArray<Commit>) -> String? {
        for (earlier, later) in zip(commits, commits.dropFirst()) {
            if earlier.record.version == later.record.version {
                return
                    "version \(later.record.version) was given to a commit of writer-\(earlier.writer) and to one of "
                    + "writer-\(later.writer)"
            }
            if earlier.writer == later.writer, earlier.record.beginNs > later.record.beginNs {
                return "versions of writer-\(later.writer) went down: version \(later.record.version) came before "
                    + "\(earlier.record.version)"
            }
        }
        return nil
    }

    /// Returns the number of commits that a callback at `version` covers.
    func covered(by version: Int64) -> Int { commits.partitioningIndex { $0.record.version > version } }
}
