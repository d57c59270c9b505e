// Tests of which callback covers which commit, and of the histories of queries.
import Testing
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeTrialRunner

@Suite struct CoverageTests {
    @Test func theFirstCallbackThatReachesTheVersionCovers() {
        for seed in testSeeds(50) {
            var random = RandomSource(seed: seed, stream: 0)
            let commits = Set((0..<random.below(40)).map { _ in Int64(random.below(100)) }).sorted()
            var callbacks = (0..<random.below(20)).map { _ in Int64(random.below(110)) }
            if random.below(4) > 0 { callbacks.sort() }
            var found: [Int?] = []
            Coverage.forEach(
                commitVersions: commits, callbackCount: callbacks.count, callbackVersion: { callbacks[$0] }
            ) { commit, callback in
                #expect(commit == found.count)
                found.append(callback)
            }
            #expect(found == commits.map { version in callbacks.firstIndex { $0 >= version } }, "seed \(seed)")
        }
    }

    @Test func historyTellsWhatEachCommitDidToEachQuery() {
        for seed in testSeeds(6) {
            var spec = TrialSpec.tiny(seed: seed)
            spec.observers.queries = .ranges
            spec.observers.count = 3
            spec.writers.rowsPerCommit = 5
            let dataset = Dataset(items: 60, groups: 1, writers: 2, seed: seed)
            let plan = QueryAssignment(spec.observers, items: 60)
            let writers = interleaved(80, seed)
            let history = History(spec: spec, dataset: dataset, plan: plan, writers: writers)
            #expect(history.disorder == nil)

            for (number, query) in plan.queries.enumerated() {
                let states = states(of: query, spec, dataset, history)
                let affecting = (1..<states.count).filter { states[$0] != states[$0 - 1] }.map { Int32($0 - 1) }
                #expect(Array(history.queries[number].commits) == affecting, "seed \(seed) query \(number)")

                var random = RandomSource(seed: seed, stream: 9)
                for _ in 0..<20 where !affecting.isEmpty {
                    let from = random.below(affecting.count + 1)
                    let to = from + random.below(affecting.count + 1 - from)
                    let net = history.queries[number].net(from..<to)
                    let before = from == 0 ? states[0] : states[Int(affecting[from - 1]) + 1]
                    let after = to == 0 ? states[0] : states[Int(affecting[to - 1]) + 1]
                    let touched = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
                    // `net` may also have rows that changed and are now as before.
                    #expect(touched.isSubset(of: Set(net.map(\.key))), "seed \(seed)")
                    for touch in net {
                        #expect(touch.before == before[touch.key].map { query.order.position(of: $0) } ?? .min)
                        #expect(touch.after == after[touch.key].map { query.order.position(of: $0) } ?? .min)
                    }
                }
            }
        }
    }

    @Test func versionsGivenTwiceAreSeen() {
        let record = CommitRecord(dueNs: 0, beginNs: 0, lockedNs: 0, committedNs: 0, version: 5)
        let dataset = Dataset(items: 60, groups: 0, writers: 2, seed: 1)
        let spec = TrialSpec.tiny()
        let history = History(
            spec: spec, dataset: dataset, plan: QueryAssignment(spec.observers, items: 60),
            writers: [[record], [record]])
        #expect(history.disorder?.contains("version 5") == true)
    }

    /// Makes records of two writers, with random interleaving of versions.
    private func interleaved(_ count: Int, _ seed: UInt64) -> [[CommitRecord]] {
        var random = RandomSource(seed: seed, stream: 7)
        var writers: [[CommitRecord]] = [[], []]
        for version in 0..<Int64(count) {
            writers[random.below(2)].append(
                CommitRecord(
                    dueNs: version, beginNs: version, lockedNs: version, committedNs: version, version: version * 3 + 5)
            )
        }
        return writers
    }

    /// Returns the rows of a query before the first commit and after each commit.
    private func states(
        of query: Query, _ spec: TrialSpec, _ dataset: Dataset, _ history: History
    ) -> [[Int64: TableModel.Row]] {
        var table = TableModel(dataset)
        var generators = (0..<2).map {
            ChangeGenerator(spec.writers, dataset: dataset, shared: Query(), writer: $0, seed: spec.seed)
        }
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: spec.writers.rowsPerCommit)
        defer { changes.deallocate() }
        func state() -> [Int64: TableModel.Row] {
            let found = table.items().filter { query.matches(key: $0.key, group: $0.group, score: $0.score) }
            return Dictionary(uniqueKeysWithValues: found.map { ($0.key, table[$0.key]) })
        }
        var states = [state()]
        for commit in history.commits {
            generators[commit.writer].fill(changes)
            for change in changes { table.apply(change) }
            states.append(state())
        }
        return states
    }
}

extension TableModel.Row: Equatable {
    public static func == (a: Self, b: Self) -> Bool { a.score == b.score && a.stamp == b.stamp && a.age == b.age }
}
