// The program of a foreign process. It opens the store, usually observes a query, and commits until it is killed. It
// also ends at the end of its standard input, because then the run is gone.
import ArgumentParser
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTortureSupport

struct ForeignWriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foreign-writer", abstract: "What a run starts as another process.", shouldDisplay: false)

    @Option var path: String
    @Option var durability: Durability
    @Option var seed: UInt64
    @Option var writer: Int
    /// Number of earlier processes with the same writer number.
    @Option var life: Int

    func run() throws {
        let plan = Plan(seed: seed, durability: durability)
        let guardian = TracedThread("standard input") {
            while readLine() != nil {}
            Foundation.exit(0)
        }
        let store = try Store(
            .init(path: path, models: Models.all, durability: durability, mapBytes: Load.mapBytes))
        var random = plan.random("foreign writer \(writer) life \(life)")
        let standing = try SharedVersion(descriptor: SharedVersion.inherited)
        let bystander = Bystander(store, random.oneIn(3) ? nil : random.one(of: plan.queries), standing)
        let commit = Commit(writer: plan.foreignWriter(writer), plan: plan)
        while true {
            let pauseUs = random.one(of: [0, 300, 3_000, 10_000])
            for _ in 0..<random.from(1...80) {
                do {
                    let rollsBack = random.oneIn(24)
                    try store.write { connection in
                        try commit.make(connection, &random)
                        if rollsBack { throw RolledBack() }
                    }
                } catch is RolledBack {}
                if pauseUs > 0 { sleep(us: random.below(pauseUs) + 1) }
            }
            sleep(us: random.below(10_000))
        }
        withExtendedLifetime((guardian, bystander)) {}
    }
}

/// A connection in a process that will be killed. Other processes must then release the version that it holds. It
/// usually observes a query, so upkeep advances it, and upkeep's own version is the same or newer.
private final class Bystander: @unchecked Sendable {
    private let place = ThreadPlace("bystander")
    // Used on the delivery context only.
    private var connection: Connection?
    private var view: (face: ViewFace, token: NotificationToken)?
    private var firstVersion: UInt64 = 0
    private var teller: TracedThread?

    init(_ store: Store, _ query: Query?, _ standing: SharedVersion) {
        place.perform { [self] in
            do {
                let opened = try place.connect(store)
                connection = opened
                firstVersion = opened.version
                guard let query else { return }
                let face = try ViewFace(query, opened)
                view = (face, try face.observe(nil) { _ in _ = face.count() })
            } catch {
                FileHandle.standardError.write(Data("\(program) stress foreign-writer: \(error)\n".utf8))
                exit(70)
            }
        }
        teller = TracedThread("version") { [self] in
            while true {
                _ = place.performAndWait(seconds: Limits.stallS) { [self] in tell(standing) }
                sleep(us: 5_000)
            }
        }
    }

    /// Publishes the connection's version, unless it is the version of the opening, which upkeep may not hold yet.
    private func tell(_ standing: SharedVersion) {
        guard let version = connection?.version, version != firstVersion else { return }
        standing.version = Int(version)
    }
}
