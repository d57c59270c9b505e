// What really happened: all commits in the order of their versions, and for every query which of them concerned it and
// how. Made off the clock by running the writers' generators once more; everything after it only reads.
import StillingWellBasis
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

/// One commit at its place in the order of versions.
struct Commit: Sendable {
    var record: CommitRecord
    var writer: Int
}

/// What commits did to one query's rows, in the order of versions.
struct QueryHistory: Sendable {
    /// A row before and after one commit, by its place in the query's order; `TableModel.absent` where not in it.
    struct Touch: Sendable {
        var key: Int64
        var before: Int64
        var after: Int64
        /// Of the row after the commit.
        var stamp: Int64 = 0

        var wasIn: Bool { before != TableModel.absent }
        var isIn: Bool { after != TableModel.absent }
    }

    /// Indices into `History.commits` of those that affect the query, ascending.
    private(set) var commits: ContiguousArray<Int32> = []
    /// Of commit `commits[i]`: `touches[starts[i] ..< starts[i + 1]]`. A row is touched once per commit.
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

    /// How many of the affecting commits have an index below `commit`.
    func affecting(before commit: Int) -> Int { commits.partitioningIndex { Int($0) >= commit } }

    /// What a range of the affecting commits did together: one touch per row, rows that came and went left out.
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
    /// Parallel to the plan's queries.
    let queries: [QueryHistory]
    /// The table after the last commit.
    let table: TableModel
    /// What was due and not made: how it would have concerned whom, had it come after all that was.
    let missed: [MissedCommit]
    /// Versions that were given out twice, or that went down within a writer; nil where all is well.
    let disorder: String?

    /// - Parameters:
    ///   - writers: the records of each writer, in the order it committed.
    ///   - missed: in the order they were due.
    init(
        spec: TrialSpec, dataset: Dataset, plan: QueryAssignment, writers: [some Collection<CommitRecord>],
        missed: [MissedCommit] = []
    ) {
        var commits: ContiguousArray<Commit> = []
        for (writer, records) in writers.enumerated() {
            commits.append(contentsOf: records.lazy.map { Commit(record: $0, writer: writer) })
        }
        // Stable: a writer's own commits keep their order even where an engine's versions do not.
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
        /// The writer's next commit on `table`.
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

    /// Tells every query that a row was in, or is in now.
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

    /// How many commits a callback at `version` covers.
    func covered(by version: Int64) -> Int { commits.partitioningIndex { $0.record.version > version } }
}
