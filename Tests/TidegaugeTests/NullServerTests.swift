// Tests of the null server, which stores nothing.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeNullServerDriver
import TidegaugeTrial

@testable import TidegaugeSpec

@Suite(.serialized, .onThreads) struct NullServerTests {
    @Test(arguments: [ServerTransport.unix, .tcp]) func theOracleIsSatisfied(_ transport: ServerTransport) throws {
        let driver = NullServerDriver()
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        (spec.serverTransport, spec.serverListeners, spec.serverSlots) = (transport, 3, 2)
        (spec.writers.threads, spec.observers.count, spec.observers.threads) = (4, 4, 2)
        let result = try runTrial(spec, on: driver) { ($0.counts["commits"] ?? 0) > 50 }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
        #expect((result.counts["callbacks"] ?? 0) > 4)
    }

    /// The null server has no standby, so a spec with one is refused.
    @Test func aStandbyIsRefused() throws {
        var spec = TrialSpec.tiny(driver: "null-server")
        spec.serverStandbyNs = 1_000_000
        #expect(try runTrial(spec, on: NullServerDriver()).isUnavailable)
    }
}
