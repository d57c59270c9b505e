// Tests of figures per callback and per pair of commit and observer, and of whole trials with the no-op driver.
import Testing
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeSpec

@testable import TidegaugeTrialRunner

@Suite struct PairFiguresTests {
    /// Makes twenty commits of one writer, due every microsecond from 1 µs on. Each returns `tookNs` after it was due.
    private func history(_ spec: TrialSpec, tookNs: Int64) throws -> (History, QueryAssignment) {
        let dataset = Dataset(spec)
        let plan = QueryAssignment(spec.observers, items: spec.dataset.items)
        let recorder = try CommitRecorder(capacity: 20)
        for version in 1...20 as ClosedRange<Int64> {
            let dueNs = version * 1_000
            recorder.record(
                CommitRecord(
                    dueNs: dueNs, beginNs: dueNs, lockedNs: dueNs, committedNs: dueNs + tookNs, version: version))
        }
        let history = History(
            spec: spec, dataset: dataset, plan: plan, writers: [recorder.records], missed: [])
        return (history, plan)
    }

    private func figures(
        tookNs: Int64 = 100, callbacks: [(version: Int64, enterNs: Int64)], uncertaintyNs: Int64? = nil
    ) throws -> PairFigures {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers.threads = 1
        spec.observers.count = 1
        spec.observers.idleQueries = 0
        let (history, _) = try history(spec, tookNs: tookNs)
        let site = DeliveryContext("observer-0", .queue)
        defer { site.stop() }
        let observer = try Observer(
            name: "observer 0", query: 0, site: site, isIdle: false, capacity: 100, indexCapacity: 100)
        for (index, callback) in callbacks.enumerated() {
            observer.note(
                Delivery(version: callback.version, isInitial: index == 0, count: 1), enterNs: callback.enterNs)
            observer.finish(exitNs: callback.enterNs + 1)
        }
        var pairs = PairFigures(
            history, Window(startNs: 0, endNs: 1_000_000), endNs: 2_000_000, uncertaintyNs: uncertaintyNs)
        pairs.add(ObserverLog(observer))
        return pairs
    }

    @Test func callbacksThatCoverNothingAreDividedByToo() throws {
        // The initial callback, one for all commits, three of the same version, and one after the window.
        let pairs = try figures(callbacks: [
            (0, 10), (20, 30_000), (20, 40_000), (20, 41_000), (20, 42_000), (20, 1_500_000),
        ])
        #expect(pairs.coveredPairs > 4 && pairs.callbacks == 4)
        #expect(pairs.coalescingRatio == Double(pairs.coveredPairs) / 4)
    }

    @Test func aCallbackBeforeItsCommitReturnedIsEarlyAndNotAtOnce() throws {
        // Each callback is 200 ns after the due time, and the commit returned 700 ns later.
        let calls = (1...20 as ClosedRange<Int64>).map { ($0, $0 * 1_000 + 200) }
        let pairs = try figures(tookNs: 900, callbacks: [(0, 10)] + calls)
        #expect(pairs.delivery.mean == -700 && pairs.delivery.min == -700 && pairs.delivery.max == -700)
        #expect(pairs.delivery.percentile(.p50)?.value == -700)
        #expect(pairs.lastDelivery.percentile(.p50)?.value == -700)
        #expect(pairs.endToEnd.mean == 200)
    }

    /// Between hosts, a negative latency is kept. One beyond the clocks' uncertainty is also reported.
    @Test func aCallBeforeItsCommitBeganIsNeverHidden() throws {
        let early = (1...20 as ClosedRange<Int64>).map { ($0, $0 * 1_000 - 30) }
        let doubtful = try figures(callbacks: [(0, 10)] + early, uncertaintyNs: 50)
        #expect(doubtful.impossible == nil)
        #expect(doubtful.endToEnd.min == -30 && doubtful.endToEnd.max == -30 && doubtful.endToEnd.mean == -30)
        let impossible = try figures(callbacks: [(0, 10)] + early, uncertaintyNs: 29)
        #expect(impossible.impossible?.earlierNs == 30 && impossible.endToEnd.count == impossible.pairs)
        // On one clock, early callbacks are not looked for.
        #expect(try figures(callbacks: [(0, 10)] + early).impossible == nil)
    }

    /// Two hosts with clocks a second apart. The observer of one is measured on its clock, for the commits of its host
    /// only.
    @Test func anEchoIsMeasuredOnTheClockOfItsHost() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        (spec.writers.threads, spec.observers.count, spec.observers.idleQueries) = (2, 1, 0)
        let (dataset, plan) = (Dataset(spec), QueryAssignment(spec.observers, items: spec.dataset.items))
        func commits(_ aheadNs: Int64, odd: Int64) -> [CommitRecord] {
            (0..<20 as Range<Int64>).map { number in
                let version = 2 * number + odd
                let dueNs = aheadNs + version * 1_000
                return CommitRecord(
                    dueNs: dueNs, beginNs: dueNs, lockedNs: dueNs, committedNs: dueNs + 100, version: version)
            }
        }
        let history = History(
            spec: spec, dataset: dataset, plan: plan, writers: [commits(0, odd: 1), commits(0, odd: 2)])
        let site = DeliveryContext("observer-0 on b", .queue)
        defer { site.stop() }
        let aheadNs: Int64 = 1_000_000_000
        // Each callback except the initial one is 300 ns after the due time, for commits of both hosts.
        let recorder = try CallbackRecorder(capacity: 41, indexCapacity: 1)
        for version in 0...40 as ClosedRange<Int64> {
            let enterNs = aheadNs + (version == 0 ? 10 : version * 1_000 + 300)
            recorder.record(
                enterNs: enterNs, version: version, isInitial: version == 0, count: 1, deletions: [], insertions: [],
                modifications: [], moveCount: 0)
            recorder.finish(exitNs: enterNs + 1)
        }
        let observer = Observer(
            "observer 0 on b", query: 0, site: site, recorder: recorder, showing: ShownItems([]), subscribedNs: aheadNs)
        let echo = Echo(
            writers: 1..<2, window: Window(startNs: aheadNs, endNs: aheadNs + 1_000_000), endNs: aheadNs + 2_000_000,
            records: [commits(aheadNs, odd: 2)], logs: [ObserverLog(observer)])
        var pairs = PairFigures(
            history, Window(startNs: 0, endNs: 1_000_000), endNs: 2_000_000, uncertaintyNs: 5_000_000)
        pairs.add(echo)
        let own = history.queries[0].commits.filter { history.commits[Int($0)].writer == 1 }.count
        #expect(own > 5 && pairs.pairs == own && pairs.coveredPairs == own && pairs.impossible == nil)
        #expect(pairs.endToEnd.min == 300 && pairs.endToEnd.max == 300 && pairs.delivery.max == 200)
        #expect(pairs.lastDelivery.max == 200 && pairs.firstDelivery.max == 10)
    }

    @Test func queueThreadsAreNobodysOwn() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.measure = [Metric.observerCPU.rawValue]
        spec.observers.deliver = .queue
        var figures = try runTrial(spec, on: NoopDriver()).figures
        let queue = try #require(figures.first { $0.metric == .observerCPU })
        #expect(queue.value == nil && queue.flags == [.queueThreads])
        spec.observers.deliver = .runLoop
        figures = try runTrial(spec, on: NoopDriver()).figures
        let runLoop = try #require(figures.first { $0.metric == .observerCPU })
        #expect(runLoop.value != nil && runLoop.flags.isEmpty)
    }

    @Test func theCostOfRecordingNamesTheReadingsOfTheClockBesideIt() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.measure = [Metric.recordingCost.rawValue]
        let figures = try runTrial(spec, on: NoopDriver()).figures
        let cost = try #require(figures.first { $0.metric == .recordingCost })
        #expect(cost.flags.contains { $0.text.hasPrefix("clock:5x") && $0.text.hasSuffix("ns") })
    }
}
