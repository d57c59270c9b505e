// Tests of observers that start and end in a trial, on correct stores and on one that calls ended observers.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TidegaugeGRDBDriver
import TidegaugeHarnessFixtures
import TidegaugeNoopDriver
import TidegaugeSQLiteHooksDriver
import TidegaugeSpec
import TidegaugeStillingWellDriver

@Suite(.serialized, .onThreads) struct ChurnTests {
    private let scenario = "fairness/observer-churn.yaml"

    @Test func oneInTenThatIsCalledOnIsSeen() throws {
        let spec = try shippedTrial(scenario, on: Fault.lateCall.rawValue)
        var resting = spec
        resting.observers.churn = nil
        // The fault concerns one observer in ten, and without churn there are fewer than ten.
        let blind = try runTrial(resting, on: FaultyDriver(.lateCall))
        #expect(blind.fate == .completed, "\(blind.notes) \(blind.violations)")
        let result = try runTrial(spec, on: FaultyDriver(.lateCall)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes) \(result.counts)")
        #expect(
            result.violations.contains { $0.contains("call after cancel: churned observer") }, "\(result.violations)")
    }

    @Test func soundStoresPass() throws {
        let drivers: [any StoreDriver] = [
            ModelDriver(), NoopDriver(), StillingWellDriver(), FetchedResultsDriver(), GRDBDriver(.pool),
            SQLiteHooksDriver(),
        ]
        for driver in drivers {
            for deliver in ObserversSpec.Deliver.allCases {
                var spec = try shippedTrial(scenario, on: driver.name)
                spec.observers.deliver = deliver
                let result = try runTrial(spec, on: driver) {
                    $0.fate != .completed || $0.counts["churned_observers"] ?? 0 > 8
                }
                #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
                #expect(try #require(result.counts["churned_observers"]) > 8, "\(driver.name)")
            }
        }
    }
}
