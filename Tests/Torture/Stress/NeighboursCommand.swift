// Damaged neighbours without the load beside them: what a run has met can be met again, one store after the other.
import ArgumentParser
import Foundation
import StillingWell
import StillingWellTortureSupport

struct NeighboursCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "neighbours", abstract: "Asks damaged stores, without anything else that runs.")

    @Option(help: "The seed.")
    var seed: UInt64 = 1

    @Option(help: "The number of the first one.")
    var first = 0

    @Option(help: "How many.")
    var count = 1_000

    func validate() throws {
        if first < 0 || count < 1 { throw ValidationError("give --first 0 or more, and --count 1 or more") }
    }

    func run() throws {
        let folder = try ScratchFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let load = try Load(Plan(seed: seed, durability: .relaxed), path: folder + "/store")
        let neighbours = Neighbours(load, in: folder)
        let whole = try neighbours.makeWhole()
        for number in first..<first + count {
            // Where one ends the process, this is the last that is said.
            FileHandle.standardError.write(Data("neighbour \(number)\n".utf8))
            try neighbours.visit(number, whole)
        }
        print("\(count) neighbours, \(load.tally.neighboursErrors.value) errors")
    }
}
