// Tests of the load that a spec and its seed describe.
import Testing
import TidegaugeDriver
import TidegaugeSpec

@testable import TidegaugeTrialRunner

@Suite struct LoadTests {
    private func dues(
        _ writers: WritersSpec, writer: Int = 0, warmUpNs: Int64, durationNs: Int64, seed: UInt64 = 3
    ) -> [Int64] {
        var schedule = ArrivalSchedule(writers, writer: writer, warmUpNs: warmUpNs, durationNs: durationNs, seed: seed)
        var dues: [Int64] = []
        while let due = schedule.next() { dues.append(due) }
        return dues
    }

    private func writers(_ arrivals: WritersSpec.Arrivals, rateHz: Double, threads: Int = 1, burst: Int = 1)
        -> WritersSpec
    {
        var writers = TrialSpec.tiny().writers
        writers.arrivals = arrivals
        writers.rateHz = rateHz
        writers.threads = threads
        writers.burst = burst
        return writers
    }

    @Test func poissonGapsAreExponentialWithTheRightMean() {
        let dues = dues(writers(.poisson, rateHz: 1_000), warmUpNs: 0, durationNs: 100_000_000_000)
        let gaps = zip(dues.dropFirst(), dues).map { Double($0 - $1) }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        // 100,000 gaps: the standard error of the mean is 0.3 %, that of the deviation about 0.45 %.
        #expect(abs(mean / 1e6 - 1) < 0.02)
        #expect(abs(variance.squareRoot() / mean - 1) < 0.04)
        // The share above the mean is 1/e for an exponential distribution, and 1/2 for symmetric ones.
        let above = Double(gaps.count { $0 > mean }) / Double(gaps.count)
        #expect(abs(above - 0.3679) < 0.01)
    }

    @Test func uniformArrivalsNeitherDriftNorSkip() {
        let spec = writers(.uniform, rateHz: 3, threads: 1)
        let dues = dues(spec, warmUpNs: 1_000_000_000, durationNs: 1_000_000_000_000)
        #expect(dues.count == 3_003)
        #expect(dues.first == -1_000_000_000)
        #expect(dues.contains(999_000_000_000))
    }

    @Test func writersOfOneRateAreSpreadOverTheGap() {
        let spec = writers(.uniform, rateHz: 1_000, threads: 4)
        let all = (0..<4).flatMap { dues(spec, writer: $0, warmUpNs: 0, durationNs: 1_000_000_000) }.sorted()
        #expect(all.count == 1_000)
        #expect(zip(all.dropFirst(), all).allSatisfy { abs($0 - $1 - 1_000_000) <= 1 })
    }

    @Test func burstsKeepTheMeanRateAndOneFallsIntoAnyWindow() {
        let spec = writers(.bursts, rateHz: 5_000, burst: 10_000)
        // The period is two seconds, the window half a second.
        let dues = dues(spec, warmUpNs: 200_000_000, durationNs: 500_000_000)
        #expect(dues.count == 10_000)
        #expect(Set(dues) == [0])
        let long = self.dues(spec, warmUpNs: 3_000_000_000, durationNs: 6_000_000_000)
        #expect(Set(long) == [-2_000_000_000, 0, 2_000_000_000, 4_000_000_000])
        #expect(long.count == 40_000)
    }

    @Test func whatIsNotMadeIsTheRestOfTheSchedule() {
        var spec = TrialSpec.tiny()
        let window = Window(startNs: 1_000, endNs: 1_000 + spec.durationNs)
        let all = (0..<2).map { writer in
            dues(spec.writers, writer: writer, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs, seed: spec.seed)
        }
        #expect(MissedCommit.rest(of: spec, window, made: all.map(\.count)).isEmpty)
        let rest = MissedCommit.rest(of: spec, window, made: [3, all[1].count - 2])
        #expect(rest.filter { $0.writer == 0 }.map(\.dueNs) == all[0].dropFirst(3).map { $0 + 1_000 })
        #expect(rest.filter { $0.writer == 1 }.map(\.dueNs) == all[1].suffix(2).map { $0 + 1_000 })
        #expect(rest.map(\.dueNs) == rest.map(\.dueNs).sorted())
        // A successor continues the schedule of the killed writer.
        spec.writers.process = .own
        var alone = spec.writers
        alone.threads = 1
        let shared = dues(alone, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs, seed: spec.seed)
        let left = MissedCommit.rest(of: spec, window, made: [10, 20])
        #expect(left == shared.dropFirst(30).map { MissedCommit(dueNs: $0 + 1_000, writer: 1) })
        spec.writers.load = .closed
        #expect(MissedCommit.rest(of: spec, window, made: [0, 0]).isEmpty)
    }

    @Test func aShareOfTheScoresIsThatShareOfTheRows() {
        let dataset = Dataset(items: 1_000, groups: 2, writers: 1, seed: 5)
        let items = (0..<dataset.count).map { dataset.item(at: $0) }
        #expect(Set(items.map(\.score)).count == items.count)
        var observers = TrialSpec.tiny().observers
        observers.match = 0.25
        #expect(rows(items, QueryAssignment(observers, items: 1_000)) == [250, 250, 10])
        observers.queries = .ranges
        observers.count = 5
        #expect(rows(items, QueryAssignment(observers, items: 1_000)) == [50, 50, 50, 50, 50, 10])
        observers.match = 1
        #expect(rows(items, QueryAssignment(observers, items: 1_000)) == [200, 200, 200, 200, 200, 10])
    }

    @Test func sharedQueriesDifferInATenthAndAllHoldTheRest() {
        let dataset = Dataset(items: 1_000, groups: 0, writers: 1, seed: 5)
        let items = (0..<dataset.count).map { dataset.item(at: $0) }
        var observers = TrialSpec.tiny().observers
        observers.idleQueries = 0
        observers.count = 5
        for queries in [ObserversSpec.Queries.overlapping, .filters] {
            observers.queries = queries
            let plan = QueryAssignment(observers, items: 1_000)
            #expect(rows(items, plan) == [500, 490, 480, 470, 460])
            #expect(items.count { plan.shared.matches(key: $0.key, group: $0.group, score: $0.score) } == 450)
        }
    }

    @Test func matchingChangesTouchEveryQueryAndStayInAll() {
        for queries in [ObserversSpec.Queries.same, .overlapping, .filters] {
            var spec = TrialSpec.tiny()
            spec.observers.queries = queries
            spec.observers.count = 9
            spec.writers.keys = .matching
            spec.writers.rowsPerCommit = 1
            let plan = QueryAssignment(spec.observers, items: 1_000)
            let dataset = Dataset(items: 1_000, groups: 0, writers: 2, seed: 8)
            var table = TableModel(dataset)
            var generators = (0..<2).map {
                ChangeGenerator(spec.writers, dataset: dataset, shared: plan.shared, writer: $0, seed: 8)
            }
            let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 1)
            defer { changes.deallocate() }
            for turn in 0..<2_000 {
                generators[turn % 2].fill(changes)
                let key = changes[0].item.key
                let old = table[key]
                table.apply(changes[0])
                let new = table[key]
                for query in Set(plan.queryOfObserver.prefix(9)).map({ plan.queries[$0] }) {
                    let isIn = [old, new].map {
                        $0.score != TableModel.absent && query.matches(key: key, group: 0, score: $0.score)
                    }
                    let isThere = [old, new].map { $0.score != TableModel.absent }
                    #expect(isIn == isThere)
                }
            }
        }
    }

    private func rows(_ items: [Item], _ plan: QueryAssignment) -> [Int] {
        plan.queryOfObserver.map { query in
            items.count { plan.queries[query].matches(key: $0.key, group: $0.group, score: $0.score) }
        }
    }

    @Test func generatorsTouchOnlyRowsThatExistAndNeverShareAScore() {
        for seed in testSeeds(5) {
            var spec = TrialSpec.tiny(seed: seed).writers
            spec.threads = 3
            spec.rowsPerCommit = 4
            spec.changes = ["update-score": 1, "delete": 3, "insert": 1]
            let dataset = Dataset(items: 30, groups: 1, writers: 3, seed: seed)
            var generators = (0..<3).map {
                ChangeGenerator(spec, dataset: dataset, shared: Query(), writer: $0, seed: seed)
            }
            var keys = Set((0..<Int64(30)))
            var scores = Set((0..<dataset.count).map { dataset.item(at: $0).score })
            var stamps: Set<Int64> = [0]
            var random = RandomSource(seed: seed, stream: 4)
            let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 4)
            defer { changes.deallocate() }
            for _ in 0..<400 {
                generators[random.below(3)].fill(changes)
                let isNewStamp = stamps.insert(changes[0].item.stamp).inserted
                #expect(isNewStamp && changes.allSatisfy { $0.item.stamp == changes[0].item.stamp })
                for change in changes {
                    let key = change.item.key
                    switch change.operation {
                    case .insert: #expect(keys.insert(key).inserted && key >= dataset.count, "seed \(seed)")
                    case .delete: #expect(keys.remove(key) != nil, "seed \(seed)")
                    case .updateScore, .touch, .moveToFront: #expect(keys.contains(key), "seed \(seed)")
                    }
                    guard change.operation == .insert || change.operation == .updateScore else { continue }
                    let isNew = scores.insert(change.item.score).inserted
                    #expect(isNew && change.item.score >= 0 && change.item.score < .max, "seed \(seed)")
                }
            }
        }
    }

    @Test func kindsOfChangeComeInTheirProportions() {
        var spec = TrialSpec.tiny().writers
        spec.threads = 1
        spec.rowsPerCommit = 1
        spec.changes = ["update-score": 1, "touch": 3]
        let dataset = Dataset(items: 1_000, groups: 0, writers: 1, seed: 1)
        var generator = ChangeGenerator(spec, dataset: dataset, shared: Query(), writer: 0, seed: 1)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 1)
        defer { changes.deallocate() }
        let touches = (0..<20_000).count { _ in
            generator.fill(changes)
            return changes[0].operation == .touch
        }
        #expect(abs(Double(touches) / 20_000 - 0.75) < 0.02)
    }

    @Test func theIndexFindsWhatAskingEveryQueryFinds() {
        for seed in testSeeds(20) {
            var random = RandomSource(seed: seed, stream: 0)
            let queries = (0..<12).map { _ in
                let low = Int64(random.below(50))
                let range = low..<(low + Int64(random.below(30)))
                return Query(
                    scores: random.below(4) == 0 ? nil : range,
                    group: random.below(3) == 0 ? Int64(random.below(3)) : nil,
                    keys: random.below(3) == 0 ? low..<(low + Int64(random.below(30))) : nil)
            }
            let index = PredicateIndex(queries)
            for _ in 0..<100 {
                let key = Int64(random.below(90))
                let group = Int64(random.below(3))
                let score = Int64(random.below(90)) - 5
                var found: [Int] = []
                index.forEachMatch(key: key, group: group, score: score) { found.append($0) }
                let expected = queries.indices.filter { queries[$0].matches(key: key, group: group, score: score) }
                #expect(found.sorted() == expected, "seed \(seed)")
            }
        }
    }

    /// Without observers, writers in lockstep wait for none.
    @Test func inLockstepWithNobodyThereIsRoomForFullSpeed() {
        var spec = TrialSpec.tiny()
        spec.writers.load = .closed
        let atFullSpeed = TrialSize.commitsPerWriter(spec)
        spec.writers.load = .lockstep
        #expect(TrialSize.commitsPerWriter(spec) < atFullSpeed)
        spec.observers.count = 0
        #expect(TrialSize.commitsPerWriter(spec) == atFullSpeed)
    }

    /// An engine may call an idle query as often as any other.
    @Test func anIdleQueryHasRoomForEveryCommitAndManyShareIt() {
        var spec = TrialSpec.tiny()
        spec.observers.idleQueries = 1
        #expect(TrialSize.idleCallbacks(spec) == TrialSize.callbacks(spec))
        spec.writers.load = .closed
        spec.observers.idleQueries = 10_000
        #expect(TrialSize.idleCallbacks(spec) * spec.observers.idleQueries < 1 << 27)
    }
}
