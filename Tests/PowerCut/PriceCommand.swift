// What flushes cost a commit: run it under `valgrind --tool=callgrind --separate-threads=yes`, with and without them, for two numbers of
// commits; the difference is that of the commits alone.
import ArgumentParser
import Foundation
import LiveStore

struct PriceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "price", abstract: "Commits one row at a time, for who counts instructions.")

    @Option(help: "How many commits.")
    var commits = 4_000

    @Option(help: "What commits are to survive: full or relaxed.")
    var durability = Durability.relaxed

    @Option(help: "Commits from one flush to the next.")
    var every: UInt64 = 256

    @Flag(help: "Without flushes that nobody waits for.")
    var off = false

    func run() throws {
        let root = try ScratchFolder()
        var configuration = Store.Configuration(
            path: root.path + "/store", models: Content.models, durability: durability,
            // More is refused under valgrind.
            mapBytes: 1 << 30)
        configuration.flushes.isOn = !off
        configuration.flushes.everyCommits = every
        configuration.flushes.intervalNs = nil
        let store = try Store(configuration)
        try store.write { connection in
            for key in 0..<10_000 { try Content.apply(.insert(key, Row(group: key, text: "text")), connection) }
        }
        for round in 0..<commits { try store.write { try Content.apply(.setGroup(round % 10_000, round), $0) } }
        print("\(commits) commits, \(store.fileBytes >> 10) KB")
    }
}
