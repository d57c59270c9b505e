// Tests of trials with other shapes than a sorted query, and of the figures measured beside them.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeSpec
import TidegaugeStillingWellDriver

@testable import TidegaugeTrial

@Suite(.serialized, .onThreads) struct ShapeTests {
    private func tiny(_ driver: any StoreDriver, seed: UInt64 = 1) -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver.name, seed: seed)
        spec.durationNs = 200_000_000
        return spec
    }

    private func expectSound(_ result: TrialResult, _ what: String) {
        #expect(result.fate == .completed, "\(what): \(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) ?? 0 == 0, "\(what)")
        #expect(result.value(.spuriousNotifications) ?? 0 == 0, "\(what)")
    }

    @Test func listsAreFollowedMoveByMove() throws {
        for driver in [ModelDriver() as any StoreDriver, StillingWellDriver()] {
            for seed in testSeeds(2) {
                var spec = tiny(driver, seed: seed)
                spec.observers.sort = .list
                spec.observers.match = 1
                spec.observers.idleQueries = 0
                spec.writers.changes = ["move": 4, "touch": 1, "insert": 1, "delete": 1, "update-score": 1]
                let result = try runTrial(spec, on: driver) {
                    ($0.counts["replayed_callbacks"] ?? 0) > 3 && ($0.counts["rows_compared"] ?? 0) > 100
                }
                expectSound(result, "\(driver.name), seed \(seed)")
                #expect(result.counts["replayed_callbacks"]! > 3)
                #expect(result.counts["rows_compared"]! > 100)
            }
        }
        var spec = tiny(NoopDriver())
        spec.observers.sort = .list
        #expect(CapabilityCheck.obstacle(spec, NoopDriver().capabilities) == "it has no lists")
    }

    @Test(arguments: [1, 2, 3])
    func changesBehindLinksAreTold(links: Int) throws {
        var spec = tiny(StillingWellDriver())
        spec.dataset.links = links
        spec.writers.changes = ["touch": 1]
        let result = try runTrial(spec, on: StillingWellDriver()) { ($0.counts["callbacks"] ?? 0) > 10 }
        expectSound(result, "\(links) links")
        #expect(result.counts["callbacks"]! > 10)
        spec.dataset.links = 4
        #expect(CapabilityCheck.obstacle(spec, StillingWellDriver().capabilities)?.contains("3 links at most") == true)
        #expect(CapabilityCheck.obstacle(spec, ModelDriver().capabilities)?.contains("behind links") == true)
    }

    @Test(arguments: [1, 25])
    func publisherChainsPassEverythingOn(length: Int) throws {
        var spec = tiny(StillingWellDriver())
        spec.observers.publisherChainLength = length
        expectSound(try runTrial(spec, on: StillingWellDriver()), "\(length) operators")
        #expect(CapabilityCheck.obstacle(spec, NoopDriver().capabilities) == "it has no publishers")
    }

    @Test func aQueryMayBeReadFirst() throws {
        var spec = tiny(StillingWellDriver())
        spec.observers.subscribe = .readFirst
        let result = try runTrial(spec, on: StillingWellDriver())
        expectSound(result, "read first")
        #expect(result.value(.timeToFirstDelivery, "count") == 2)
    }

    @Test func observersThatHaveGoneCostNothingAndHearNothing() throws {
        for driver in [NoopDriver() as any StoreDriver, StillingWellDriver()] {
            var spec = tiny(driver)
            spec.observers.subscribe = .cancelled
            let result = try runTrial(spec, on: driver)
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(result.cpu?.affectingCommits == 0)
            #expect(!result.figures.contains { $0.metric == .endToEndLatency })
        }
        var spec = tiny(FaultyDriver(.calledAfterCancel))
        spec.observers.subscribe = .cancelled
        let result = try runTrial(spec, on: FaultyDriver(.calledAfterCancel)) { !$0.violations.isEmpty }
        #expect(result.violations.contains { $0.contains("call after cancel") }, "\(result.violations)")
    }

    @Test(arguments: [1, 3])
    func auditedRowsAddUpInEveryCallback(threads: Int) throws {
        for driver in [ModelDriver() as any StoreDriver, StillingWellDriver()] {
            for deliver in ObserversSpec.Deliver.allCases {
                var spec = tiny(driver)
                spec.observers.audit = .sums
                spec.observers.deliver = deliver
                spec.observers.threads = 2
                spec.writers.threads = threads
                let result = try runTrial(spec, on: driver) {
                    $0.fate != .completed || $0.counts["audits"] ?? 0 > 5
                }
                expectSound(result, "\(driver.name) \(deliver)")
                #expect(result.counts["audits"]! > 5)
            }
        }
    }

    @Test func aTornTransactionIsSeen() throws {
        var spec = tiny(FaultyDriver(.tornRead))
        spec.observers.audit = .sums
        let result = try runTrial(spec, on: FaultyDriver(.tornRead)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.contains { $0.contains("atomicity") && $0.contains("add up to") })
    }

    @Test func heldVersionsAreCounted() throws {
        var spec = tiny(StillingWellDriver())
        spec.observers.heldSnapshots = 3
        // The number of active versions grows with the commits, which are few if the writer has no CPU time.
        let result = try runTrial(spec, on: StillingWellDriver()) {
            $0.fate != .completed || $0.value(.activeVersions, "max") ?? 0 > 20
        }
        expectSound(result, "held snapshots")
        #expect(try #require(result.value(.activeVersions, "max")) > 20)
        #expect(try #require(result.value(.spaceAmplification)) > 1)
        #expect(CapabilityCheck.obstacle(spec, NoopDriver().capabilities) == "it holds no versions")
        // Without held snapshots, on a store that does not count, there is no figure and no refusal.
        spec.observers.heldSnapshots = 0
        let noop = try runTrial(spec, on: NoopDriver())
        #expect(noop.fate == .completed && noop.value(.activeVersions) == nil)
    }

    @Test func aCoTenantIsBusy() throws {
        var spec = tiny(StillingWellDriver())
        spec.dataset.coTenant = .busy
        let result = try runTrial(spec, on: StillingWellDriver()) { ($0.counts["co_tenant_commits"] ?? 0) > 10 }
        expectSound(result, "co-tenant")
        #expect(result.counts["co_tenant_commits"]! > 10)
    }

    @Test func allocationsAreToldByRole() throws {
        guard AllocationProbe.isAvailable else { return }
        let result = try runTrial(tiny(StillingWellDriver()), on: StillingWellDriver())
        let account = try #require(result.allocations)
        #expect(account.process.count > 100 && account.process.bytes > 10_000)
        #expect(try #require(result.value(.writerBytes)) > 0)
        #expect(try #require(result.value(.observerBytes)) > 0)
        #expect(try #require(result.value(.engineBytes)) >= 0)
        var queue = tiny(StillingWellDriver())
        queue.observers.deliver = .queue
        let queued = try runTrial(queue, on: StillingWellDriver())
        #expect(queued.value(.observerBytes) == nil && queued.value(.writerBytes) != nil)
    }

    /// Percentiles need enough samples, and a pair that was never covered is censored in every figure it concerns.
    @Test func everyPercentileIsCarriedAndEveryMissIsCensored() throws {
        for (driver, misses) in [(FaultyDriver(.lostLast) as any StoreDriver, true), (ModelDriver(), false)] {
            var spec = tiny(driver)
            spec.hangTimeoutNs = 500_000_000
            let result = try runTrial(spec, on: driver)
            let needed: [Statistic: Int] = [.p50: 20, .p90: 100, .p99: 1_000, .p99_9: 10_000, .p99_99: 100_000]
            for figure in result.figures {
                if let least = needed[figure.statistic], figure.n < least {
                    #expect(figure.value == nil, "\(figure)")
                }
                #expect(figure.censored <= figure.n, "\(figure)")
            }
            let concerned: Set<Metric> = [
                .deliveryLatency, .endToEndLatency, .writeToCallback, .lastDeliveryLatency, .fanoutSpan,
            ]
            for metric in concerned {
                let figures = result.figures.filter { $0.metric == metric }
                #expect(!figures.isEmpty)
                #expect(figures.allSatisfy { ($0.censored > 0) == misses }, "\(metric)")
            }
        }
    }
}
