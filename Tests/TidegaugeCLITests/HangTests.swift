// Tests of hangs.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct HangTests {
    private static let scenarios = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Scenarios/deadlock").standardizedFileURL.path

    private func hangs(_ folder: Folder) -> [String] {
        folder.read("Reports/latest/hangs.csv").split(separator: "\n").map(String.init)
    }

    private func run(_ name: String, _ arguments: [String] = [], in folder: Folder) throws -> Ran {
        try Binary.tidegauge.run(
            ["run", "\(Self.scenarios)/\(name).yaml", "--profile", "ci", "--quiet"] + arguments, in: folder)
    }

    private func expectPassed(
        _ name: String, in folder: Folder, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let ran = try run(name, in: folder)
        #expect(ran.status == 0, "\(ran.output)\n\(ran.errors)", sourceLocation: sourceLocation)
    }

    @Test func aKnownDeadlockIsFoundNamedKeptAndReplayed() throws {
        let folder = try Folder()
        let ran = try run("main-after-background", in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        let lines = hangs(folder)
        let found = try #require(lines.first { $0.contains(",deadlock,") })
        #expect(found.contains("background>run loop main;main>fetched results serial section"))
        #expect(found.contains("'background' holds fetched results serial section (for "))
        #expect(found.contains(",true,tidegauge replay Reports/"))
        #expect(lines.filter { $0.contains(",deadlock,") }.count == 1, "one trial deadlocks")
        #expect(lines.contains { $0.contains(",inversion,") })
        #expect(folder.read("Reports/latest/report.html").contains("<summary>Hangs: 1 expected and caught"))
        #expect(folder.read("Reports/latest/hangs/1.trace.json").contains("waits for run loop main"))
        #expect(folder.read("Reports/latest/hangs/1.json").contains("LegacyDelivery"), "stacks have names")
        let again = try Binary.tidegauge.run(["replay", "Reports/latest/hangs/1.json", "--times", "3"], in: folder)
        #expect(again.status == 0)
        #expect(again.output.hasSuffix("3 of 3: the same deadlock\n"), "\(again.output)")
    }

    @Test func locksThatNobodyTracesAreNamedByTheKernel() throws {
        let folder = try Folder()
        try expectPassed("foreign-locks", in: folder)
        #expect(hangs(folder).contains { $0.contains(",deadlock,background>pthread mutex;main>pthread mutex,") })
    }

    @Test func aTrapIsNoHang() throws {
        let folder = try Folder()
        try expectPassed("own-queue", in: folder)
        #expect(hangs(folder).contains { $0.contains("flawed-sync-on-own-queue,,0,") && $0.contains(",trap,") })
    }

    @Test func aWakeUpThatIsLostIsAStall() throws {
        let folder = try Folder()
        try expectPassed("drop-token-while-refresh", in: folder)
        #expect(hangs(folder).contains { $0.contains(",stall,") && $0.contains("'main' waits for answers") })
    }

    @Test func aRefreshThatACloseForgetsIsAStall() throws {
        let folder = try Folder()
        try expectPassed("close-while-refresh", in: folder)
        #expect(hangs(folder).contains { $0.contains("flawed-close-forgets-refresh") && $0.contains(",stall,") })
    }

    @Test func anEndingThatWasNotExpectedFailsTheRun() throws {
        let play = """
            purpose: What if it ends otherwise?
            represents: itself
            drivers: [flawed-callback-under-lock, stillingwell]
            threads: { writer: [hold: [refusable: [commit]]] }
            """
        let folder = try Folder()
        for (number, ending) in ["expect: completes", "expect: deadlock\ncycle: [writer > something]"].enumerated() {
            try folder.write("Scenarios/\(number).yaml", Data("\(play)\n\(ending)\n".utf8))
        }
        let hung = try Binary.tidegauge.run(
            ["run", "Scenarios/0.yaml", "--driver", "flawed-callback-under-lock", "--quiet"], in: folder)
        #expect(hung.status == 3)
        let other = try Binary.tidegauge.run(
            ["run", "Scenarios/1.yaml", "--driver", "flawed-callback-under-lock", "--quiet"], in: folder)
        #expect(other.status == 4)
        #expect(other.errors.contains("it deadlocked in another cycle than the scenario says"))
        let none = try Binary.tidegauge.run(
            ["run", "Scenarios/1.yaml", "--driver", "stillingwell", "--quiet"], in: folder)
        #expect(none.status == 4)
        #expect(none.errors.contains("expected a deadlock, but it completed"))
    }

    /// Patches of `Tests/Faults` show that a forgotten refresh is found within these numbers of schedules.
    @Test(arguments: [("commit-deliver-close", "400"), ("commit-deliver-cancel", "2000"), ("refresh-close", "400")])
    func noInterleavingBreaksTheStoresProtocol(play: String, schedules: String) throws {
        let folder = try Folder()
        let ran = try Binary.tidegauge.run(
            ["explore", "\(Self.scenarios)/\(play).yaml", "--schedules", schedules, "--seed", "7"], in: folder)
        #expect(ran.status == 0, "\(ran.output)")
        #expect(ran.output.contains("nothing went wrong"))
    }

    @Test func interleavingsAreSearchedShrunkAndReplayed() throws {
        let folder = try Folder()
        let play = """
            purpose: Is an order of locks found that deadlocks now and then?
            represents: itself
            drivers: [stillingwell]
            threads:
              left: [lock: { a: [lock: { b: [] }] }]
              right: [lock: { b: [lock: { a: [] }] }]
            expect: completes
            """
        try folder.write("Scenarios/orders.yaml", Data(play.utf8))
        let found = try Binary.tidegauge.run(["explore", "Scenarios/orders.yaml", "--schedules", "500"], in: folder)
        #expect(found.status == 3)
        #expect(found.output.contains("'left' holds a"))
        let schedule = found.output.split(separator: "\n").first { $0.hasPrefix("schedule: ") }?.dropFirst(10)
        let again = try Binary.tidegauge.run(
            ["explore", "Scenarios/orders.yaml", "--schedule", String(try #require(schedule)), "--times", "20"],
            in: folder)
        #expect(again.status == 3)
        #expect(again.output.hasPrefix("20 of 20: "), "\(again.output)")
    }
}
