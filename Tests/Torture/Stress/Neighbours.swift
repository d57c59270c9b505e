// Other stores in this process. Their files are damaged while closed, or truncated while open. Damage must only cause
// errors of the damaged store. The process and the store under load must not be affected. Wrong answers are not
// checked here (the command `damage` does that).
//
// Used by its own thread only.
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync

final class Neighbours: Sendable {
    private let load: Load
    private let folder: String
    let heartbeat = Heartbeat("neighbours")

    /// - Parameter folder: an existing folder that belongs to the run.
    init(_ load: Load, in folder: String) {
        self.load = load
        self.folder = folder
    }

    func start() -> TracedThread { TracedThread("neighbours") { [self] in run() } }

    private func run() {
        if let whole = load.expectNoError("neighbours", makeWhole) {
            var number = 0
            while !load.isStopping {
                heartbeat.beat()
                _ = load.expectNoError("neighbour \(number)") { try visit(number, whole) }
                sleep(us: 1_000 + 997 * (number % 30))
                number += 1
            }
        }
        heartbeat.end()
    }

    /// Makes and uses one damaged store. The number and the seed decide the damage.
    private func visit(_ number: Int, _ whole: Data) throws {
        var random = load.plan.random("neighbour \(number)")
        try visit(Self.damaged(whole, &random), &random)
    }

    private func configuration(_ path: String) -> Store.Configuration {
        Store.Configuration(path: path, models: Models.all, durability: .relaxed, mapBytes: 1 << 30)
    }

    /// Returns the data file of an undamaged store.
    private func makeWhole() throws -> Data {
        var random = load.plan.random("neighbours")
        let path = folder + "/whole"
        let store = try Store(configuration(path))
        let commit = Commit(writer: Plan.setupWriter, plan: load.plan)
        try store.write { connection in
            try Ledger.add(Plan.setupWriter, connection)
            try commit.fill(SmallRow.self, keys: load.plan.smallKeys, connection, &random)
            try commit.fill(LargeRow.self, keys: load.plan.largeKeys, connection, &random)
            try commit.fillBoards(connection, &random)
        }
        for _ in 0..<40 { try store.write { try commit.make($0, &random) } }
        store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    }

    private static func damaged(_ whole: Data, _ random: inout SeededRandom) -> Data {
        let pageBytes = 4_096
        var bytes = whole
        let first = random.below(whole.count / pageBytes) * pageBytes
        switch random.below(4) {
        case 0: for _ in 0..<random.from(1...8) { bytes[random.below(bytes.count)] ^= UInt8(random.from(1...255)) }
        case 1: for _ in 0..<random.from(1...8) { bytes[first + random.below(32)] ^= UInt8(random.from(1...255)) }
        case 2: bytes.resetBytes(in: first..<first + pageBytes)
        default: bytes.removeSubrange(first..<bytes.count)
        }
        return bytes
    }

    /// Opens a damaged store, reads it and writes to it. Errors other than `StoreError` are rethrown.
    private func visit(_ bytes: Data, _ random: inout SeededRandom) throws {
        let path = folder + "/neighbour"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: path + "/data.mdb"))
        load.tally.count(.neighbours)
        guard let store = try asked({ try Store(configuration(path)) }) else { return }
        defer { store.close() }
        let commit = Commit(writer: Plan.setupWriter, plan: load.plan)
        try asked { try store.read(read) }
        try asked { try store.write { try commit.make($0, &random) } }
        if random.oneIn(3) {
            truncate(path + "/data.mdb", random.below(bytes.count + 1))
            try asked { try store.read(read) }
            try asked { try store.write { try commit.make($0, &random) } }
        }
        try asked { try store.verify() }
    }

    /// Returns nil if the store has thrown a `StoreError`.
    @discardableResult
    private func asked<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch is StoreError {
            load.tally.neighboursErrors.add()
            return nil
        }
    }

    private func read(_ connection: Connection) throws {
        _ = try connection.objects(Ledger.self).reduce(0) { $0 &+ $1.commits }
        _ = try connection.objects(SmallRow.self).map { RowValue($0) }
        _ = try connection.objects(LargeRow.self).where(\.score > 2).sorted(by: \.title).map { RowValue($0) }
        _ = try connection.objects(Board.self).map { BoardValue($0) }
    }
}
