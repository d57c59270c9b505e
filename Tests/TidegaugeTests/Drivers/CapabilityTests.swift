// Tests of the abilities of the shipped drivers, by the protocols of their stores. Without these tests, a lost ability
// would only cause skipped scenarios.
import Foundation
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugePostgresDriver
import TidegaugeStillingWellDriver
import TidegaugeTemplateDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite struct CapabilityTests {
    /// The abilities that `drivers.txt` of each module states, by the name of the driver.
    private static let stated: [String: Set<String>] = {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/Drivers").standardizedFileURL
        let files = try! FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let rows = files.flatMap { file -> [(String, Set<String>)] in
            let text = try! String(contentsOf: file.appending(path: "drivers.txt"), encoding: .utf8)
            return text.split(separator: "\n").dropFirst().map { line in
                let parts = line.split(separator: ":")
                return (String(parts[0]), Set(parts.dropFirst().joined().split(separator: " ").map(String.init)))
            }
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }()

    @Test func everyDriverIsStated() {
        #expect(Set(linkedDrivers.map(\.name)) == Set(Self.stated.keys))
        #expect(linkedDrivers.count == Self.stated.count)
    }

    @Test(arguments: linkedDrivers.indices) func abilitiesAreThoseStated(_ index: Int) throws {
        let driver = linkedDrivers[index]
        #expect(Set(driver.capabilities.abilities.map { "\($0)" }) == Self.stated[driver.name], "\(driver.name)")
        #expect(driver.capabilities.hasContents == !driver.capabilities.can(.rowless), "\(driver.name)")
    }

    @Test func abilitiesAreWhatTheStoreConformsTo() {
        #expect(ModelDriver().capabilities.abilities == [.siteForgetting, .wholeRows, .answering])
        #expect(TemplateDriver().capabilities.abilities == [])
    }

    /// A server works in other processes.
    @Test func aServerIsNotCounted() {
        let spec = TrialSpec.tiny(driver: "postgres-notify").counted(by: "callgrind", commits: nil)
        let obstacle = CapabilityCheck.obstacle(spec, PostgresDriver(.notify).capabilities)
        #expect(obstacle == "it has no counted form, because the work of another process is not counted")
    }

    /// A trial with a step that the store cannot do is skipped with a reason. The steps here are inside a callback.
    @Test(arguments: [
        (InterleavingSpec.Step.read([]), "it cannot read in steps of an interleaving test"),
        (.writeLater([.commit(1)]), "it has no asynchronous writes"),
        (.refresh, "it cannot be called on an observing thread"),
        (.beginWrite, "it cannot be called on an observing thread"),
    ])
    func aStepThatAStoreCannotDoIsSkipped(_ step: InterleavingSpec.Step, _ reason: String) {
        var spec = TrialSpec.tiny(driver: "template")
        let steps = [InterleavingSpec.Step.subscribe(name: "observer", count: 1, initial: [step], update: [])]
        spec.interleaving = InterleavingSpec(actors: [.init(name: "main", place: .runLoop, steps: steps)])
        #expect(CapabilityCheck.obstacle(spec, TemplateDriver().capabilities) == reason)
        #expect(CapabilityCheck.obstacle(spec, StillingWellDriver().capabilities) == nil)
    }
}
