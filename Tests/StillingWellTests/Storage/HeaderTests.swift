// Tests of the meta pages of a store's file. They have no checksum, but the record of the last flush has one.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Headers", .serialized, .onThreads)
struct HeaderTests {
    private static let pageBytes = 4_096
    private static let header = 16..<152
    private static let transaction = 144

    /// A folder with a store and a copy of it.
    private final class Stores {
        let root = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"

        init() throws { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: root) }

        var path: String { root + "/store" }

        func configuration(_ path: String, _ durability: Durability = .full) -> Store.Configuration {
            var configuration = Store.Configuration(path: path, models: [Note.self], durability: durability)
            configuration.flushes.everyCommits = 1 << 40
            configuration.flushes.mostCommits = 1 << 41
            configuration.flushes.intervalNs = nil
            return configuration
        }

        func data(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) }

        /// Makes a copy of the store with another data file.
        func copy(_ data: Data) throws -> String {
            let path = root + "/copy"
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: self.path, toPath: path)
            try data.write(to: URL(fileURLWithPath: path + "/data.mdb"))
            return path
        }

        func count(_ path: String) throws -> Int {
            try Store(configuration(path)).read { try $0.objects(Note.self).count }
        }
    }

    private static func number(_ data: Data, _ place: Int) -> UInt64 {
        data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place * pageBytes + transaction, as: UInt64.self) }
    }

    private static func newest(_ data: Data) -> Int { number(data, 1) > number(data, 0) ? 1 : 0 }

    /// Makes a closed store whose newest transaction number has this remainder modulo 4. Returns its number of notes,
    /// its file, and the file after each commit.
    private func fill(_ stores: Stores, remainder: UInt64) throws -> (count: Int, data: Data, states: [Data]) {
        let store = try Store(stores.configuration(stores.path))
        var (count, states) = (0, [Data]())
        repeat {
            try store.write { try $0.add(Note(id: count)) }
            count += 1
            states.append(try stores.data(stores.path))
        } while count < 12 || Self.number(states[count - 1], Self.newest(states[count - 1])) % 4 != remainder
        return (count, states[count - 1], states)
    }

    @Test("an older header in place of the newest is found, and the newest restored")
    func olderInPlace() throws {
        let stores = try Stores()
        let (count, data, states) = try fill(stores, remainder: 0)
        let place = Self.newest(data) * Self.pageBytes
        for older in [2, 4] {
            var damaged = data
            damaged.replaceSubrange(place..<place + 512, with: states[count - 1 - older][place..<place + 512])
            let path = try stores.copy(damaged)
            let report = try Store.verify(path: path)
            #expect(report.damage == ["the header of the last commit, or of the one before, is not what was flushed"])
            #expect(try stores.data(path) == damaged, "it is left as it was")
            #expect(try stores.count(path) == count)
            #expect(try Store.verify(path: path).isWhole)
        }
    }

    @Test("a wrong bit in a header loses no commit of a closed store")
    func wrongBits() throws {
        let stores = try Stores()
        var random = SeededRandom(seed: SeededRandom.base)
        // With this remainder, one bit makes the older header follow the newest one.
        let (count, data, _) = try fill(stores, remainder: 2)
        let newest = Self.newest(data)
        var places = (0..<40).map {
            ($0 % 2, random.below(Self.header.count) + Self.header.lowerBound, random.below(8))
        }
        // An older table tree, and the older header as one that follows the newest.
        places += [(newest, 128, 0), (1 - newest, Self.transaction, 1)]
        // Number and type of the page.
        places += [(newest, 0, 3), (newest, 10, 3)]
        for (page, byte, bit) in places {
            var damaged = data
            damaged[page * Self.pageBytes + byte] ^= 1 << UInt8(bit)
            let path = try stores.copy(damaged)
            #expect(try stores.count(path) == count, "page \(page), byte \(byte), bit \(bit)")
        }
    }

    @Test("without a record of a flush, headers that no two commits leave are refused")
    func alone() throws {
        let stores = try Stores()
        for remainder in 0..<4 as Range<UInt64> {
            let (count, data, _) = try fill(stores, remainder: remainder)
            for place in [nil, 0, 1] as [Int?] {
                for bit in 0..<(place == nil ? 1 : 16) {
                    var damaged = data
                    if let place { damaged[place * Self.pageBytes + Self.transaction + bit / 8] ^= 1 << UInt8(bit % 8) }
                    let path = try stores.copy(damaged)
                    try FileManager.default.removeItem(atPath: path + "/durable.mdb")
                    if place == nil {
                        #expect(try stores.count(path) == count)
                    } else {
                        let text = refusal { _ = try stores.count(path) }
                        #expect(text.contains("which commit was the newest is not known"), "\(bit): \(text)")
                        #expect(try !Store.verify(path: path).isWhole)
                    }
                }
            }
            try FileManager.default.removeItem(atPath: stores.path)
        }
    }

    @Test("verify reports a wrong bit in each word of the newest header, and salvage takes the newest commit")
    func verified() throws {
        let stores = try Stores()
        var random = SeededRandom(seed: SeededRandom.base)
        let (count, data, _) = try fill(stores, remainder: 2)
        for byte in Self.header where byte % 4 == 0 {
            var damaged = data
            damaged[Self.newest(data) * Self.pageBytes + byte] ^= 1 << UInt8(random.below(8))
            let path = try stores.copy(damaged)
            let report = try Store.verify(path: path)
            #expect(!report.isWhole && report.tables.first?.wholeObjects == count, "\(byte): \(report.damage)")
        }
        var damaged = data
        for page in 0..<2 { damaged[page * Self.pageBytes + 16] ^= 1 }
        let (path, salvaged) = (try stores.copy(damaged), stores.root + "/salvaged")
        #expect(try !Store.salvage(path: path, to: salvaged).isWhole)
        #expect(try stores.count(salvaged) == count)
        #expect(try stores.count(path) == count)
    }

    @Test(
        "commits of a killed process are newer than the last flush; where one's header is damaged, the store is not taken back"
    )
    func later() throws {
        let stores = try Stores()
        let store = try Store(stores.configuration(stores.root + "/open", .relaxed))
        try store.write { try $0.add(Note(id: 0)) }
        try store.synchronize()
        for id in 1..<4 { try store.write { try $0.add(Note(id: id)) } }
        try FileManager.default.copyItem(atPath: stores.root + "/open", toPath: stores.path)
        let data = try stores.data(stores.path)
        #expect(try stores.count(stores.copy(data)) == 4)
        #expect(try Store.verify(path: stores.copy(data)).isWhole)
        // The magic number, and a transaction number that does not follow the other.
        for (byte, bit) in [(16, 0), (Self.transaction, 3)] {
            for page in 0..<2 {
                var damaged = data
                damaged[page * Self.pageBytes + byte] ^= 1 << UInt8(bit)
                let path = try stores.copy(damaged)
                let text = refusal { _ = try stores.count(path) }
                #expect(
                    text.contains("which commit was the newest is not known") && text.contains("Store.salvage"),
                    "\(text)")
                #expect(try stores.data(path) == damaged, "it is left as it was")
                #expect(try !Store.verify(path: path).isWhole)
            }
        }
    }

    @Test("a newest header with the number of the one before the other is not taken for an older one")
    func numberOfOlder() throws {
        let stores = try Stores()
        let store = try Store(stores.configuration(stores.root + "/open", .relaxed))
        try store.write { try $0.add(Note(id: 0)) }
        try store.synchronize()
        let flushed = try stores.data(stores.root + "/open")
        // The other header is first the flushed one, then a later one.
        for id in 1..<4 {
            try store.write { try $0.add(Note(id: id)) }
            try? FileManager.default.removeItem(atPath: stores.path)
            try FileManager.default.copyItem(atPath: stores.root + "/open", toPath: stores.path)
            var damaged = try stores.data(stores.path)
            let newest = Self.newest(damaged)
            let number = Self.number(damaged, newest)
            #expect(number == Self.number(flushed, Self.newest(flushed)) + UInt64(id))
            withUnsafeBytes(of: number - 2) {
                let place = newest * Self.pageBytes + Self.transaction
                damaged.replaceSubrange(place..<place + 8, with: $0)
            }
            let path = try stores.copy(damaged)
            let text = refusal { _ = try stores.count(path) }
            #expect(text.contains("which commit was the newest is not known"), "\(text)")
            #expect(try stores.data(path) == damaged, "it is left as it was")
            #expect(try !Store.verify(path: path).isWhole)
        }
    }

    @Test("verify of an open store compares the header with the record too")
    func verifiedOpen() throws {
        let stores = try Stores()
        let store = try Store(stores.configuration(stores.path))
        try store.write { try $0.add(Note(id: 0)) }
        #expect(try store.verify().isWhole)
        let data = try stores.data(stores.path)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: stores.path + "/data.mdb"))
        defer { try? file.close() }
        // Size of the map, which is not derived from other fields.
        let place = Self.newest(data) * Self.pageBytes + 32
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [data[place] ^ 1])
        #expect(
            try store.verify().damage == [
                "the header of the last commit, or of the one before, is not what was flushed"
            ])
    }
}
