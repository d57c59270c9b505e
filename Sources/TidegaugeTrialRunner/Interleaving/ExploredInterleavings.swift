// An interleaving test as a program whose schedules are explored. Each schedule runs it again on a new store with the
// same checks. Delivery contexts must be run loops: the schedule of a dispatch queue cannot be chosen.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeHangs
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

public struct ExploredInterleavings: Sendable {
    private let spec: TrialSpec
    private let driver: any StoreDriver
    private let play: InterleavingSpec
    private let folder: String

    /// - Parameter folder: folder on a memory file system. Each run's store has a subfolder, removed after the run.
    /// - Throws: `TrialFault.refused` if the spec is a load, uses a queue, or needs more than the driver has.
    public init(_ spec: TrialSpec, on driver: any StoreDriver, folder: String) throws {
        guard let play = spec.interleaving else { throw TrialFault.refused("a load has no schedules to explore") }
        if let actor = play.actors.first(where: { $0.place == .queue }) {
            throw TrialFault.refused(
                "'\(actor.name)' runs on a queue, whose schedule cannot be chosen: write 'runs_on: run-loop'")
        }
        if let obstacle = CapabilityCheck.obstacle(spec, driver.capabilities) { throw TrialFault.refused(obstacle) }
        (self.spec, self.driver, self.play, self.folder) = (spec, driver, play, folder)
    }

    /// The program to explore.
    public var program: ExploredProgram {
        ExploredProgram { [self] in
            let directory = "\(folder)/\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: directory) }
            do {
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                var test: InterleavingTest?
                try InterleavingTrial.perform(spec, driver, directory, play) { test = $0 }
                return test?.fault
            } catch {
                return "\(error)"
            }
        }
    }
}
