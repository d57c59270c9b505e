// Tests of whole trials in this process.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeStillingWellDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct TrialTests {
    @Test(
        arguments: cases(
            [ObserversSpec.Deliver.runLoop, .queue].flatMap { deliver in
                [ObserversSpec.Sort.none, .scoreAscending, .scoreDescending].map { (deliver, $0) }
            },
            atEveryCommit: [(.runLoop, .scoreAscending), (.queue, .none), (.queue, .scoreDescending)]))
    func aSoundStorePasses(deliver: ObserversSpec.Deliver, sort: ObserversSpec.Sort) throws {
        for seed in testSeeds(1) {
            var spec = TrialSpec.tiny(seed: seed)
            spec.observers.deliver = deliver
            spec.observers.sort = sort
            spec.observers.threads = 2
            let result = try runTrial(spec, on: ModelDriver()) { ($0.counts["replayed_callbacks"] ?? 0) > 3 }
            #expect(result.fate == .completed, "seed \(seed): \(result.notes) \(result.violations)")
            #expect(result.value(.missedFinal) == 0)
            #expect(result.value(.spuriousNotifications) == 0)
            #expect(result.counts["rows_compared"]! > 0)
            #expect(result.counts["replayed_callbacks"]! > 3)
        }
    }

    /// A leaked observer would keep its delivery context, whose run loop has three descriptors.
    @Test func noObserverOutlivesItsTrial() throws {
        for deliver in ObserversSpec.Deliver.allCases {
            let driver = WatchedSinks()
            var spec = TrialSpec.tiny()
            spec.observers.deliver = deliver
            spec.observers.audit = .sums
            #expect(try runTrial(spec, on: driver).fate == .completed)
            #expect(driver.counts.all > 3)
            #expect(driver.counts.living == 0)
        }
    }

    /// A run loop that gets no descriptors would end the process.
    @Test func threadsBeyondTheLimitOfOpenFilesAreRefused() throws {
        var spec = TrialSpec.tiny()
        func check(_ threads: Int, limit: Int) throws {
            try ObserverGroup.checkOpenFiles(threads: threads, spec, open: 20, limit: limit)
        }
        spec.observers.deliver = .runLoop
        try check(300, limit: 1_024)
        #expect {
            try check(400, limit: 1_024)
        } throws: { error in
            "\(error)".contains("400 observing threads need about 1252 open files")
                && "\(error)".contains("ulimit -n 1252")
        }
        spec.observers.deliver = .queue
        try check(400, limit: 1_024)
    }

    @Test func recordsThatDidNotFitAreNamedWithTheirRoomAndTheRemedy() throws {
        let recorder = try CallbackRecorder(capacity: 2, indexCapacity: 3)
        func record(_ insertions: [Int]) {
            recorder.record(
                enterNs: 1, version: 1, isInitial: false, count: 1, deletions: [], insertions: insertions,
                modifications: [],
                moveCount: 0)
        }
        var spec = TrialSpec.tiny()
        record([0, 1, 2])
        #expect(ObserverGroup.loss(of: "observer 0", recorder, spec) == nil)
        record([0, 1, 2, 3])
        #expect(
            ObserverGroup.loss(of: "observer 0", recorder, spec)
                == "the deliveries of observer 0 had 4 indices more than the 3 that can be recorded: lower writers.rate or "
                + "writers.rows_per_commit, or shorten duration")
        record([])
        spec.writers.load = .closed
        #expect(
            ObserverGroup.loss(of: "observer 0", recorder, spec)
                == "the deliveries of observer 0 had 1 callback more than the 2 and 4 indices more than the 3 that can be "
                + "recorded: lower writers.rows_per_commit, or shorten duration")
    }

    @Test func rangesAreJudgedEachForItself() throws {
        var spec = TrialSpec.tiny()
        spec.observers.queries = .ranges
        spec.observers.count = 7
        spec.observers.threads = 3
        let result = try runTrial(spec, on: ModelDriver())
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
    }

    @Test func theNoopStoreRunsWithoutRows() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.observers.queries = .ranges
        spec.observers.count = 5
        // The CPU time of few commits may be less than the uncertain amount that is subtracted for waiting.
        let result = try runTrial(spec, on: NoopDriver()) { $0.value(.processCPU) ?? 0 > 0 }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
        #expect(result.value(.endToEndLatency, "count")! > 0)
        #expect(result.value(.processCPU)! > 0)
    }

    /// Threads of the store count as upkeep by a prefix of their names.
    @Test func upkeepIsNotZero() throws {
        for driver in [StillingWellDriver(), FetchedResultsDriver()] as [any StoreDriver] {
            let result = try runTrial(.tiny(driver: driver.name), on: driver)
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(result.cpu?.roleNs["upkeep"] ?? 0 > 0, "\(driver.name): \(result.cpu?.roleNs ?? [:])")
        }
    }

    /// A writer that is still late a second after the window gives up. All due commits count, made or not.
    @Test func aWriterThatIsLateWithoutEndGivesUpAndHidesNothing() throws {
        var spec = TrialSpec.tiny()
        // Each writer has 120 due commits, and makes about half of them in 1.1 s.
        spec.shim = Shim("tail=1:20ms")
        let result = try runTrial(spec, on: ModelDriver())
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        let missed = try #require(result.counts["missed_commits"])
        #expect(missed > 50)
        #expect(result.notes.contains { $0.contains("\(missed) of ") && $0.contains("gave up 1000 ms after") })
        #expect(try #require(result.saturationHz) < spec.writers.rateHz)
        let measured = Double(result.counts["measured_commits"]!)
        let response = try #require(result.figures.first { $0.metric == .writeResponseTime && $0.statistic == .p50 })
        // The commits of the warm-up were made.
        #expect(response.censored == missed)
        #expect(Double(response.n) == measured + Double(missed))
        let p90 = try #require(result.figures.first { $0.metric == .writeResponseTime && $0.statistic == .p90 })
        #expect(p90.flags.contains(.atLeast))
        #expect(p90.value! > 0.9e9)
        #expect(result.value(.missedCommits) == Double(missed))
        let started = try #require(result.figures.first { $0.metric == .scheduleStarted })
        #expect(started.n == response.n)
        #expect(started.value! < 0.2)
        let endToEnd = try #require(result.figures.first { $0.metric == .endToEndLatency && $0.statistic == .max })
        #expect(endToEnd.censored > 0)
        #expect(endToEnd.flags.contains(.atLeast))
        #expect(result.value(.missedFinal) == 0)
    }

    @Test func withoutObserversOnlyWritersAreMeasured() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.observers.count = 0
        spec.observers.idleQueries = 0
        let result = try runTrial(spec, on: NoopDriver())
        #expect(result.fate == .completed)
        #expect(result.value(.writeServiceTime, "count")! > 0)
        #expect(!result.figures.contains { $0.metric == .endToEndLatency })
        #expect(result.cpu?.affectingCommits == 0)
    }

    @Test func aClosedLoopHasServiceTimesAndNoLatencies() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers.load = .closed
        spec.writers.rateHz = 0  // as in a scenario file without a rate
        spec.durationNs = 20_000_000
        let result = try runTrial(spec, on: NoopDriver()) { ($0.value(.writeServiceTime, "count") ?? 0) > 0 }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.value(.writeServiceTime, "count")! > 0)
        for metric in [Metric.endToEndLatency, .deliveryLatency, .writeResponseTime, .scheduleDelay] {
            #expect(!result.figures.contains { $0.metric == metric })
        }
    }

    @Test(arguments: [ObserversSpec.Queries.same, .overlapping, .filters])
    func inLockstepEveryCommitHasItsCallback(queries: ObserversSpec.Queries) throws {
        for driver in [NoopDriver() as any StoreDriver, ModelDriver(), StillingWellDriver()] {
            var spec = TrialSpec.tiny(driver: driver.name)
            spec.dataset.items = 400
            spec.observers.queries = queries
            spec.observers.count = 7
            spec.writers.threads = 1
            spec.writers.load = .lockstep
            spec.writers.keys = .matching
            spec.writers.rowsPerCommit = 1
            // Long enough for a commit while other tests use the cores.
            spec.durationNs = 400_000_000
            let result = try runTrial(spec, on: driver)
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(result.value(.coalescingRatio) == 1)
            #expect(result.value(.missedFinal) == 0)
            #expect(result.counts["pairs"] == 7 * result.counts["measured_commits"]!)
            // A commit is due when it begins. The flag marks latencies without load.
            let latencies = result.figures.filter { $0.metric == .endToEndLatency }
            #expect(!latencies.isEmpty && latencies.allSatisfy { $0.flags.contains(.lockstep) })
            #expect(result.value(.scheduleDelay, "count") == nil)
            #expect(result.value(.lastDeliveryLatency, "count") == Double(result.counts["measured_commits"]!))
            let last = try #require(result.value(.lastDeliveryLatency, "max"))
            #expect(last == result.value(.deliveryLatency, "max"))
        }
    }

    @Test func anObserverThatIsNeverCalledEndsLockstep() throws {
        var spec = TrialSpec.tiny(driver: Fault.lostDelivery.rawValue)
        spec.dataset.items = 400
        spec.observers.queries = .overlapping
        spec.writers.threads = 1
        spec.writers.load = .lockstep
        spec.writers.keys = .matching
        spec.hangTimeoutNs = 300_000_000
        // The fault needs six deliveries.
        let result = try runTrial(spec, on: FaultyDriver(.lostDelivery)) { $0.fate != .completed }
        #expect(result.fate == .hang)
        // The message names the observer that lost a delivery, not the writer that waits for it.
        #expect(result.notes.count == 1)
        #expect(
            result.notes.allSatisfy {
                $0.contains("not every observer was called for version ") && $0.contains("'observer 0' was called at")
                    && !$0.contains("'observer 1'")
            },
            "\(result.notes)")
    }

    @Test(arguments: [ObserversSpec.Calls.beginWrite, .refresh])
    func callsOnTheObservingThreadAreMeasured(calls: ObserversSpec.Calls) throws {
        for driver in [NoopDriver() as any StoreDriver, StillingWellDriver()] {
            for deliver in ObserversSpec.Deliver.allCases {
                var spec = TrialSpec.tiny(driver: driver.name)
                spec.observers.calls = calls
                spec.observers.deliver = deliver
                let result = try runTrial(spec, on: driver) { ($0.value(.observerStall, "count") ?? 0) > 10 }
                #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
                #expect(try #require(result.value(.observerStall, "count")) > 10)
            }
        }
        var spec = TrialSpec.tiny()
        spec.observers.calls = calls
        #expect(try runTrial(spec, on: ModelDriver()).notes.contains { $0.contains("cannot be called") })
    }

    @Test func observersSubscribeWhileAWriterHoldsTheLock() throws {
        for driver in [NoopDriver() as any StoreDriver, StillingWellDriver()] {
            var spec = TrialSpec.tiny(driver: driver.name)
            spec.observers.subscribe = .locked
            let result = try runTrial(spec, on: driver)
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(result.value(.timeToFirstDelivery, "count") == 2)
        }
        var spec = TrialSpec.tiny()
        spec.observers.subscribe = .locked
        spec.hangTimeoutNs = 200_000_000
        #expect(try runTrial(spec, on: ModelDriver()).notes.contains { $0.contains("observers wait while a writer") })
        // A store that delivers under its write lock, and declares otherwise, is reported as a hang.
        #expect(try runTrial(spec, on: FaultyDriver(.readersWait)).fate == .hang)
    }

    @Test func theFloorIsMeasuredBetweenTheCommits() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers.threads = 1
        spec.writers.rateHz = 1_000
        let result = try runTrial(spec, on: NoopDriver()) { ($0.value(.wakeFloor, "count") ?? 0) > 50 }
        let floors = try #require(result.value(.wakeFloor, "count"))
        #expect(floors > 50 && floors <= Double(result.counts["measured_commits"]!))
        let ratio = try #require(result.value(.deliveryOverFloor))
        let expected =
            try #require(result.value(.writeToCallback, "p50")) / #require(result.value(.wakeFloor, "p50"))
        #expect(abs(ratio / expected - 1) < 0.001)
    }

    @Test func keysMayLookRandom() throws {
        var spec = TrialSpec.tiny(driver: "stillingwell")
        spec.dataset.keys = .uuid
        let result = try runTrial(spec, on: StillingWellDriver()) { ($0.counts["rows_compared"] ?? 0) > 60 }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.counts["rows_compared"]! > 60)
        #expect(try runTrial(spec, on: ModelDriver()).notes.contains { $0.contains("it has no 'uuid' keys") })
    }

    @Test func ratesAndSharesAreWhatTheCommitsSay() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers.threads = 3
        spec.writers.load = .closed
        spec.writers.rowsPerCommit = 5
        spec.durationNs = 30_000_000
        // On a busy machine it can happen that no commit begins and returns within the window.
        let result = try runTrial(spec, on: NoopDriver()) {
            $0.value(.writeServiceTime, "mean") != nil && $0.value(.writerShareMin) != nil
        }
        let serviceNs = try #require(result.value(.writeServiceTime, "mean"))
        let expected = 5 * 3 * 1e9 / serviceNs
        #expect(abs(try #require(result.value(.objectRate)) / expected - 1) < 0.01)
        let share = try #require(result.value(.writerShareMin))
        #expect(share >= 0 && share <= 1)
    }

    @Test(arguments: [
        (Fault.lostDelivery, "change-set replay"), (.lostLast, "convergence"), (.swappedDeliveries, "monotonicity"),
        (.repeatedDelivery, "change-set replay"), (.shiftedIndex, "change-set replay"),
        (.lostModification, "no modification says so"), (.extraModification, "did not change in place"),
        (.needlessMove, "not minimal"), (.wrongCount, "says the collection has"), (.versionBack, "monotonicity"),
        (.secondInitial, "first is initial"), (.noInitial, "first is initial"), (.tornSite, "atomicity"),
        (.calledAfterCancel, "call after cancel"), (.staleCollection, "live collection"),
        (.wrongContents, "evaluation"),
        (.lostCommit, "nothing lost"),
    ])
    func everyFaultIsSeen(fault: Fault, text: String) throws {
        var spec = TrialSpec.tiny(driver: fault.rawValue)
        // A delivery with modifications only needs a commit with modifications only.
        if fault == .needlessMove { spec.writers.changes = ["touch": 1] }
        spec.hangTimeoutNs = 500_000_000
        // The fault needs a few deliveries.
        let result = try runTrial(spec, on: FaultyDriver(fault)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.contains { $0.contains(text) }, "\(result.violations)")
        #expect(result.violations.allSatisfy { $0.contains("seed 1") })
        if text == "change-set replay" {
            // Both states, so that the step can be checked by hand.
            #expect(result.violations.contains { $0.contains("before: ") && $0.contains("should be: ") })
        }
        if fault == .lostLast {
            #expect(result.value(.missedFinal) == 1)
            #expect(result.figures.contains { $0.metric == .endToEndLatency && $0.censored > 0 })
        }
    }

    @Test(arguments: [
        (Fault.hang, TrialFate.hang, "no commit returned"), (.stuckObserver, .hang, "has not taken a block"),
        (.commitError, .harnessFault(reason: "store_error"), "refuses its twentieth commit"),
        (.failedSubscription, .harnessFault(reason: "store_error"), "gave up"),
        (.unavailable, .harnessFault(reason: "unavailable"), "install it"),
    ])
    func whatEndsATrialIsNamed(fault: Fault, fate: TrialFate, text: String) throws {
        var spec = TrialSpec.tiny(driver: fault.rawValue)
        spec.hangTimeoutNs = 300_000_000
        let result = try runTrial(spec, on: FaultyDriver(fault)) { $0.fate != .completed }
        #expect(result.fate == fate, "\(result.violations)")
        #expect(result.notes.contains { $0.contains(text) }, "\(result.notes)")
        #expect(result.isUnavailable == (fault == .unavailable))
    }

    @Test func aSpecOfAnotherVersionIsRefused() throws {
        var spec = TrialSpec.tiny()
        spec.specVersion = TrialSpec.currentVersion + 1
        let result = try runTrial(spec, on: ModelDriver())
        #expect(result.fate == .harnessFault(reason: "refused"))
        let remark = "spec has version \(spec.specVersion), this binary reads version \(TrialSpec.currentVersion)"
        #expect(result.notes[0].contains(remark))
    }
}
