// Tests of change sets that cover many commits, with a store whose indices are wrong only in such change sets.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeSpec
import TidegaugeStillingWellDriver

@Suite(.serialized, .onThreads) struct BatchTests {
    private let scenario = "coalescing/mixed-batches.yaml"

    /// The faulty driver is correct as long as each callback covers one commit.
    @Test func wrongIndicesOfABatchAreSeen() throws {
        var alone = TrialSpec.tiny(driver: Fault.staleModification.rawValue)
        alone.observers.count = 1
        alone.observers.idleQueries = 0
        alone.writers.threads = 1
        alone.writers.load = .lockstep
        alone.writers.keys = .matching
        alone.writers.changes = ["update-score": 1, "touch": 1]
        alone.writers.rowsPerCommit = 1
        let apart = try runTrial(alone, on: FaultyDriver(.staleModification))
        #expect(apart.fate == .completed, "\(apart.notes) \(apart.violations)")
        #expect(apart.value(.batchSpan, "max") == 1)

        let spec = try shippedTrial(scenario, on: Fault.staleModification.rawValue)
        let result = try runTrial(spec, on: FaultyDriver(.staleModification)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.contains { $0.contains("modification") }, "\(result.violations)")
    }

    @Test func soundStoresPassAndCoalesce() throws {
        for driver in [ModelDriver() as any StoreDriver, StillingWellDriver()] {
            let result = try runTrial(try shippedTrial(scenario, on: driver.name, items: 2_000), on: driver)
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(try #require(result.value(.batchSpan, "max")) >= 2, "\(driver.name)")
        }
    }
}
