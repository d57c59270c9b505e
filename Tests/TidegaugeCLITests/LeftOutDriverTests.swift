// Tests of drivers that a program was built without.
import Foundation
import Testing

@testable import TidegaugeCLI

@Suite struct LeftOutDriverTests {
    private func drivers(_ binary: Binary) throws -> Set<String> {
        let listed = try binary.run(["list", "drivers"], in: try Folder())
        #expect(listed.status == 0, "\(listed.errors)")
        return Set(listed.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) })
    }

    @Test func whatShipsIsWhatTheProgramsHave() throws {
        let shipped = ShippedDrivers.all.flatMap(\.names)
        #expect(Set(shipped).count == shipped.count)
        #expect(try drivers(.peers) == Set(shipped))
        let plain = ShippedDrivers.all.filter { $0.program == "tidegauge" }.flatMap(\.names)
        #expect(try drivers(.tidegauge) == Set(plain))
    }

    @Test(arguments: [
        ["run", "commit-latency"], ["compare", "HEAD"], ["explore", "refresh-close"], ["replay", "refresh-close"],
    ])
    func oneThatIsAskedForIsRefusedWithWhatHasIt(_ command: [String]) throws {
        let ran = try Binary.tidegauge.run(command + ["--driver", "grdb-pool"], in: try Folder())
        #expect(ran.status == 64)
        #expect(
            ran.errors.contains(
                "this build leaves out driver grdb-pool: build it with `swift build -c release --product tidegauge-peers`"
            ),
            "\(ran.errors)")
    }

    @Test func aSlipIsHeldAgainstThemToo() throws {
        let ran = try Binary.tidegauge.run(["run", "commit-latency", "--driver", "grdb-pol"], in: try Folder())
        #expect(ran.status == 64)
        #expect(ran.errors.contains("did you mean 'grdb-pool'?"), "\(ran.errors)")
    }

    @Test func aScenarioThatNamesOneIsValidAndSaysSo() throws {
        let checked = try Binary.tidegauge.run(["check", "side-by-side"], in: try Folder())
        #expect(checked.status == 0)
        #expect(checked.output.contains("side-by-side: ok"), "\(checked.output)")
        #expect(checked.errors.contains("leaves out driver grdb-pool"), "\(checked.errors)")
        #expect(checked.errors.contains("leaves out driver grdb-memory"), "\(checked.errors)")
        // A program with other stores knows the names of these drivers too.
        let foreign = try Binary.fixture.run(["check", "side-by-side"], in: try Folder())
        #expect(
            foreign.status == 0 && foreign.errors.contains("list product TidegaugeStillingWellDriver"),
            "\(foreign.errors)")
    }

    @Test func aScenarioThatNamesOneRunsOnTheOthers() throws {
        let folder = try Folder()
        try folder.write("mine.yaml", Data("extends: commit-latency\ndrivers: [noop, grdb-pool]\n".utf8))
        let ran = try Binary.tidegauge.run(["run", "mine.yaml", "--profile", "smoke"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(
            ran.errors.contains("mine: skipped on grdb-pool: this build leaves out driver grdb-pool"), "\(ran.errors)")
        #expect(Set(folder.metrics().compactMap { $0["driver"] }) == ["noop"])
        #expect(folder.read("Reports/latest/junit.xml").contains("leaves out driver grdb-pool"))
    }
}
