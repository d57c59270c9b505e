// Tests of the abilities of the shipped drivers, by the protocols of their stores. Without them, a lost ability would
// only cause skipped scenarios.
import Testing
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TidegaugeFlawedDriver
import TidegaugeGRDBDriver
import TidegaugeHarnessFixtures
import TidegaugeNoopDriver
import TidegaugeNotificationQueueDriver
import TidegaugePostgresDriver
import TidegaugeSQLiteHooksDriver
import TidegaugeStillingWellDriver
import TidegaugeTemplateDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite struct CapabilityTests {
    private static let drivers: [(driver: any StoreDriver, abilities: Set<Ability>)] = [
        (
            StillingWellDriver(),
            [
                .callableOnSite, .transactionalReading, .asynchronousWriting, .pinning, .compacting, .siteForgetting,
                .wholeRows, .answering,
            ]
        ),
        (FetchedResultsDriver(), [.callableOnSite, .transactionalReading, .asynchronousWriting]),
        (GRDBDriver(.pool), [.callableOnSite, .wholeRows, .answering]),
        (GRDBDriver(.memory), [.callableOnSite, .wholeRows, .answering]),
        (SQLiteHooksDriver(), [.callableOnSite, .wholeRows, .answering]), (NotificationQueueDriver(), []),
        (TemplateDriver(), []), (PostgresDriver(.poll), [.lateVersions, .served, .reachable, .harmableServer]),
        (NoopDriver(), [.callableOnSite, .rowless]), (ModelDriver(), [.siteForgetting, .wholeRows, .answering]),
        (LegacyDriver(), [.callableOnSite, .transactionalReading, .asynchronousWriting]),
        (FlawedDriver(.lockOrder), [.callableOnSite, .transactionalReading, .asynchronousWriting, .rowless]),
    ]

    @Test(arguments: drivers.indices) func abilitiesAreWhatTheStoreConformsTo(_ index: Int) throws {
        let (driver, abilities) = Self.drivers[index]
        #expect(driver.capabilities.abilities == abilities, "\(driver.name)")
        #expect(driver.capabilities.hasContents == !abilities.contains(.rowless), "\(driver.name)")
    }

    /// A server executes its instructions, and its versions are known only after the load.
    @Test func aServerIsNotCounted() {
        let spec = TrialSpec.tiny(driver: "postgres-notify").counted(by: "callgrind", commits: nil)
        let obstacle = CapabilityCheck.obstacle(spec, PostgresDriver(.notify).capabilities)
        #expect(obstacle == "it has no counted form: what a server does is not counted here")
    }

    /// Such a trial is skipped with a reason, and does not fail halfway. The same holds inside a callback.
    @Test(arguments: [
        (Choreography.Step.read([]), "it has no way to read in steps"),
        (.writeLater([.commit(1)]), "it has no writes that nobody waits for"),
        (.refresh, "it cannot be called on an observing thread"),
        (.beginWrite, "it cannot be called on an observing thread"),
    ])
    func aStepThatAStoreCannotDoIsSkipped(_ step: Choreography.Step, _ reason: String) {
        var spec = TrialSpec.tiny(driver: "template")
        let steps = [Choreography.Step.subscribe(name: "observer", count: 1, initial: [step], update: [])]
        spec.choreography = Choreography(actors: [.init(name: "main", place: .runLoop, steps: steps)])
        #expect(CapabilityCheck.obstacle(spec, TemplateDriver().capabilities) == reason)
        #expect(CapabilityCheck.obstacle(spec, StillingWellDriver().capabilities) == nil)
    }
}
