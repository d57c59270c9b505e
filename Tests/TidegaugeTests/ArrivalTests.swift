// Tests of arrivals, and of the choice of rows.
import Foundation
import Testing
import TidegaugeDriver
import TidegaugeSpec

@testable import TidegaugeTrialRunner

@Suite struct ArrivalTests {
    private func dues(_ writers: WritersSpec, writer: Int = 0, warmUpNs: Int64, durationNs: Int64, seed: UInt64 = 3)
        -> [Int64]
    {
        var schedule = ArrivalSchedule(writers, writer: writer, warmUpNs: warmUpNs, durationNs: durationNs, seed: seed)
        var dues: [Int64] = []
        while let due = schedule.next() { dues.append(due) }
        return dues
    }

    private func waves(onMs: Int64, offMs: Int64, rateHz: Double, threads: Int = 1) -> WritersSpec {
        var writers = TrialSpec.tiny().writers
        writers.arrivals = .onOff
        writers.threads = threads
        writers.rateHz = rateHz
        writers.onNs = onMs * 1_000_000
        writers.offNs = offMs * 1_000_000
        return writers
    }

    @Test func wavesKeepTheMeanRateAndSilenceIsSilent() {
        let spec = waves(onMs: 100, offMs: 400, rateHz: 1_000)
        let dues = dues(spec, warmUpNs: 2_050_000_000, durationNs: 100_000_000_000)
        let measured = dues.filter { $0 >= 0 }
        // 100,000 Poisson commits have a standard deviation of 316.
        #expect(abs(measured.count - 100_000) < 1_600)
        #expect(zip(dues, dues.dropFirst()).allSatisfy { $0 <= $1 })
        // Waves begin with the window, and every half second before and after that.
        let period: Int64 = 500_000_000
        #expect(dues.allSatisfy { (($0 % period) + period) % period <= 100_000_000 })
        #expect(dues.first! >= -2_050_000_000)
        // Within a wave, commits are independent: the standard deviation of a gap equals its mean.
        let gaps = zip(measured.dropFirst(), measured).map { Double($0 - $1) }.filter { $0 < 1e8 }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        #expect(abs(mean / 200_000 - 1) < 0.02)
        #expect(abs(variance.squareRoot() / mean - 1) < 0.05)
    }

    @Test func aTraceIsDealtOutInTurnAndCutAtTheEnd() {
        var spec = waves(onMs: 1, offMs: 1, rateHz: 0, threads: 2)
        spec.arrivals = .trace
        spec.traceNs = [0, 5, 10, 20, 20, 35, 40]
        #expect(dues(spec, writer: 0, warmUpNs: 10, durationNs: 25) == [-10, 0, 10])
        #expect(dues(spec, writer: 1, warmUpNs: 10, durationNs: 25) == [-5, 10])
        #expect(dues(spec, writer: 1, warmUpNs: 10, durationNs: 26) == [-5, 10, 25])
    }

    @Test func oneSeedDecidesEverything() {
        for arrivals in WritersSpec.Arrivals.allCases {
            for keys in WritersSpec.Keys.allCases {
                var spec = TrialSpec.tiny()
                spec.writers.arrivals = arrivals
                spec.writers.keys = keys
                spec.writers.onNs = 10_000_000
                spec.writers.offNs = 10_000_000
                spec.writers.traceNs = (0..<100).map { $0 * 1_000_000 }
                spec.writers.changes = ["update-score": 1, "touch": 1, "insert": 1, "delete": 1, "move": 1]
                spec.observers.audit = .sums
                func run(_ seed: UInt64) -> (dues: [Int64], changes: [Change]) {
                    spec.seed = seed
                    let dataset = Dataset(spec)
                    let plan = QueryAssignment(spec.observers, items: spec.dataset.items)
                    var generator = ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: 1)
                    let buffer = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
                    defer { buffer.deallocate() }
                    let changes = (0..<200).flatMap { _ in
                        generator.fill(buffer)
                        return Array(buffer)
                    }
                    let dues = self.dues(
                        spec.writers, writer: 1, warmUpNs: 20_000_000, durationNs: 200_000_000, seed: seed)
                    return (dues, changes)
                }
                let (first, again, other) = (run(5), run(5), run(6))
                #expect(first.dues == again.dues && first.changes == again.changes, "\(arrivals) \(keys)")
                #expect(first.changes != other.changes, "\(keys)")
                if [.poisson, .onOff].contains(arrivals) { #expect(first.dues != other.dues, "\(arrivals)") }
            }
        }
    }

    @Test func roomIsReservedForWhateverMayBeDue() {
        for seed in testSeeds(20) {
            var random = RandomSource(seed: seed, stream: 1)
            var spec = TrialSpec.tiny(seed: seed)
            spec.writers = waves(
                onMs: 1 + Int64(random.below(200)), offMs: 1 + Int64(random.below(2_000)),
                rateHz: Double(1 + random.below(50_000)), threads: 1 + random.below(3))
            spec.warmUpNs = Int64(random.below(500)) * 1_000_000
            spec.durationNs = Int64(1 + random.below(1_000)) * 1_000_000
            let made = dues(spec.writers, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs, seed: seed).count
            #expect(made <= TrialSize.commitsPerWriter(spec), "seed \(seed)")
        }
    }
}

@Suite struct KeyChoiceTests {
    private func draws(_ spec: WritersSpec, of rows: Int, _ count: Int = 200_000) -> [Int] {
        let choice = KeyChoice(spec)
        var random = RandomSource(seed: 11, stream: 0)
        var drawn = Array(repeating: 0, count: rows)
        for _ in 0..<count { drawn[choice.draw(rows, &random)] += 1 }
        return drawn
    }

    private func writers(_ keys: WritersSpec.Keys, exponent: Double = 1) -> WritersSpec {
        var writers = TrialSpec.tiny().writers
        writers.keys = keys
        writers.zipfExponent = exponent
        return writers
    }

    /// Compares with the definition, by chi-squared over the ranks that are drawn often enough.
    @Test(arguments: [0.5, 0.99, 1, 1.5, 3], [1, 2, 10, 1_000])
    func ranksComeAsZipfSays(exponent: Double, rows: Int) {
        let drawn = draws(writers(.zipf, exponent: exponent), of: rows)
        let weights = (1...rows).map { pow(Double($0), -exponent) }
        let total = weights.reduce(0, +)
        var statistic = 0.0
        var classes = 0
        var rest = (expected: 0.0, drawn: 0)
        for (weight, count) in zip(weights, drawn) {
            let expected = 200_000 * weight / total
            if expected < 10 {
                rest.expected += expected
                rest.drawn += count
                continue
            }
            statistic += (Double(count) - expected) * (Double(count) - expected) / expected
            classes += 1
        }
        if rest.expected >= 10 {
            let difference = Double(rest.drawn) - rest.expected
            statistic += difference * difference / rest.expected
            classes += 1
        }
        // Six standard deviations above the mean of chi-squared.
        let freedom = Double(max(classes - 1, 0))
        #expect(statistic <= freedom + 6 * (2 * freedom).squareRoot() + 1e-9)
    }

    @Test func aHotShareGetsItsShare() {
        var spec = writers(.hot)
        spec.hotKeys = 0.05
        spec.hotCommits = 0.8
        let drawn = draws(spec, of: 400)
        #expect(abs(Double(drawn[..<20].reduce(0, +)) / 200_000 - 0.8) < 0.005)
        // Evenly among the hot rows.
        #expect(drawn[..<20].allSatisfy { abs(Double($0) - 8_000) < 600 })
        #expect(drawn[20...].allSatisfy { $0 > 0 })
        #expect(draws(spec, of: 1)[0] == 200_000)
    }

    @Test func latestPrefersWhatCameLast() {
        let drawn = draws(writers(.latest), of: 100)
        #expect(drawn[99] > drawn[98] && drawn[98] > drawn[90] && drawn[90] > drawn[0])
    }

    @Test func theLatestRowsStayTheLatestWhenOthersGo() {
        var spec = TrialSpec.tiny()
        spec.writers.threads = 1
        spec.writers.keys = .latest
        spec.writers.zipfExponent = 2
        spec.writers.rowsPerCommit = 1
        spec.writers.changes = ["insert": 1, "delete": 1, "touch": 2]
        let dataset = Dataset(items: 1_000, groups: 0, writers: 1, seed: 2)
        var generator = ChangeGenerator(spec.writers, dataset: dataset, shared: Query(), writer: 0, seed: 2)
        var alive = (0..<Int64(1_000)).map { $0 }
        var ranks: [Int] = []
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 1)
        defer { changes.deallocate() }
        for _ in 0..<4_000 {
            generator.fill(changes)
            let key = changes[0].item.key
            switch changes[0].operation {
            case .insert: alive.append(key)
            case .delete: alive.removeAll { $0 == key }
            default: ranks.append(alive.count - 1 - alive.lastIndex(of: key)!)
            }
        }
        // With exponent 2, six of ten touches are of the last row.
        #expect(abs(Double(ranks.count { $0 == 0 }) / Double(ranks.count) - 0.608) < 0.04)
    }

    @Test func hotRowsAreSpreadOverAllScores() {
        var spec = TrialSpec.tiny()
        spec.writers.threads = 1
        spec.writers.keys = .hot
        spec.writers.hotKeys = 0.1
        spec.writers.hotCommits = 1
        spec.writers.rowsPerCommit = 1
        spec.writers.changes = ["touch": 1]
        let dataset = Dataset(items: 1_000, groups: 0, writers: 1, seed: 4)
        var generator = ChangeGenerator(spec.writers, dataset: dataset, shared: Query(), writer: 0, seed: 4)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 1)
        defer { changes.deallocate() }
        var keys: Set<Int64> = []
        for _ in 0..<5_000 {
            generator.fill(changes)
            keys.insert(changes[0].item.key)
        }
        #expect(keys.count == 100)
        // The rows are not concentrated at low keys or low scores.
        #expect(abs(Double(keys.reduce(0, +)) / 100 - 500) < 120)
        let upper = keys.count { dataset.item(at: Int($0)).score > Score.bound(1 << 30) }
        #expect(abs(upper - 50) < 20)
    }

    @Test func aMoveGoesToTheTop() {
        var spec = TrialSpec.tiny()
        spec.writers.threads = 2
        spec.writers.changes = ["move": 1, "update-score": 1]
        spec.writers.rowsPerCommit = 1
        let dataset = Dataset(items: 100, groups: 0, writers: 2, seed: 4)
        var generators = (0..<2).map {
            ChangeGenerator(spec.writers, dataset: dataset, shared: Query(), writer: $0, seed: 4)
        }
        var table = TableModel(dataset)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: 1)
        defer { changes.deallocate() }
        var moves = 0
        for turn in 0..<400 {
            generators[turn % 2].fill(changes)
            table.apply(changes[0])
            guard changes[0].item.score >= Score.make(upper: 1 << 31 - 1, serial: 0) else { continue }
            moves += 1
            // At most one row may be above it, which the other writer moved.
            let above = table.items().count { $0.score > changes[0].item.score }
            #expect(above <= 1)
        }
        #expect(abs(moves - 200) < 60)
    }
}
