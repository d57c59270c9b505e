// Tests that shipped drivers, the fixture and the template pass one suite, and that faulty drivers fail it.
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeGRDBDriver
import TidegaugeHarnessFixtures
import TidegaugeNotificationQueueDriver
import TidegaugeTemplateDriver

@Suite(.serialized, .onThreads) struct ConformanceTests {
    /// All drivers, except those that hang on purpose and those that need a server.
    private static let drivers: [any StoreDriver] =
        [ModelDriver(), TemplateDriver()]
        + linkedDrivers.filter { driver in
            !["flawed-", "fetched-results-legacy", "null-server", "postgres-"].contains(where: driver.name.hasPrefix)
        }

    /// The no-op driver, and drivers that share the engine of another one. They are checked in the nightly run only.
    private static let variants = ["noop", GRDBDriver(.memory).name, NotificationQueueDriver(.typed).name]

    private static func every(_ drivers: [String]) -> [(String, String)] {
        drivers.flatMap { driver in Conformance.checks.map { (driver, $0.name) } }
    }

    @Test(
        arguments: cases(
            every(drivers.map(\.name)), atEveryCommit: every(drivers.map(\.name).filter { !variants.contains($0) })))
    func aDriverConforms(driver name: String, check: String) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        let complaints = Conformance(driver: driver).complaints(Conformance.checks.filter { $0.name == check })
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    @Test(arguments: [
        Fault.lostDelivery, .lostLast, .swappedDeliveries, .repeatedDelivery, .shiftedIndex, .lostModification,
        .extraModification, .needlessMove, .wrongCount, .versionBack, .secondInitial, .noInitial, .tornSite,
        .calledAfterCancel, .staleCollection, .wrongContents, .lostCommit, .commitError, .failedSubscription,
        .readersWait,
    ])
    func aFaultyDriverDoesNot(fault: Fault) {
        let conformance = Conformance(driver: FaultyDriver(fault), patienceNs: 300_000_000)
        #expect(!conformance.complaints().isEmpty)
    }
}
