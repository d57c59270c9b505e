// What it costs to keep a version: commits as a run makes them, while one version is held, and how much the file grows.
import ArgumentParser
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellTortureSupport

struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Measures what a commit costs in the file while a version is held.")

    @Option(help: "The seed.")
    var seed: UInt64 = 1

    @Option(help: "How many commits are made while a version is held.")
    var commits = 2_000

    func run() throws {
        let plan = Plan(seed: seed, durability: .relaxed)
        func grown(_ name: String, _ write: (Connection, Commit, inout SeededRandom) throws -> Void) throws -> Int {
            let folder = try ScratchFolder.make()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            // What is kept for the last flush is another matter.
            var flushes = FlushPlan()
            flushes.isOn = false
            let load = try Load(plan, path: folder, flushes: flushes)
            try load.fill()
            var random = plan.random("pin")
            let commit = Commit(writer: plan.localWriter(0), plan: plan)
            // As full as a run makes it, its log too.
            for _ in 0..<commits { try load.store.write { try commit.make($0, &random) } }
            let bytes = try load.store.read { _ in
                // Until it is found to be held for long, and what was freed meanwhile is let go of.
                var left = Limits.heldVersionCommits
                while left > 0 {
                    try load.store.write { try write($0, commit, &random) }
                    if load.store.heldBytes > 0 { left -= 1 }
                }
                let before = load.store.fileBytes
                for _ in 0..<commits { try load.store.write { try write($0, commit, &random) } }
                return (load.store.fileBytes - before) / commits
            }
            print("\(name): \(bytes) bytes per pinned commit")
            return bytes
        }
        _ = try grown("one small row, without the ledger") { connection, _, random in
            let row = try connection.objects(SmallRow.self).first
            row?.score = random.below(Values.scores)
        }
        _ = try grown("one small row and the ledger") { connection, commit, random in
            try Ledger.add(commit.writer, connection)
            let row = try connection.objects(SmallRow.self).first
            row?.score = random.below(Values.scores)
        }
        let mean = try grown("commits of a run") { connection, commit, random in try commit.make(connection, &random) }
        print("allowed are \(Limits.fileBytesPerHeldCommit)")
        if mean > Limits.fileBytesPerHeldCommit { throw ExitCode(1) }
    }
}
