// Tests of flushes, mostly with copies of a store's folder that are opened as in another boot. `PowerCutTests` opens
// images with random parts of the unflushed writes.
import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Flushes", .serialized, .onThreads)
struct FlushTests {
    private static let otherBoot = BootID(high: 1, low: 2)

    /// A folder with copies of an open store.
    private final class Copies {
        let root = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        private var made = 0

        init() throws { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: root) }

        func copy(_ path: String) throws -> String {
            made += 1
            try FileManager.default.copyItem(atPath: path, toPath: "\(root)/\(made)")
            return "\(root)/\(made)"
        }
    }

    private func configuration(_ path: String, _ boot: BootID? = .current, every commits: UInt64 = 1 << 40)
        -> Store.Configuration
    {
        var configuration = Store.Configuration(path: path, models: [Note.self], durability: .relaxed)
        configuration.flushes.everyCommits = commits
        configuration.flushes.mostCommits = 4 * commits
        configuration.flushes.intervalNs = nil
        configuration.flushes.boot = boot
        return configuration
    }

    private func add(_ ids: Range<Int>, _ store: Store) throws {
        for id in ids { try store.write { try $0.add(Note(id: id)) } }
    }

    private func ids(_ path: String, _ boot: BootID? = .current) throws -> [Int] {
        let store = try Store(configuration(path, boot))
        return try store.read { try $0.objects(Note.self).sorted(by: \.id).map(\.id) }
    }

    @Test("the machine's boot has an id")
    func boot() {
        #expect(BootID.current != nil && BootID.current == BootID.current)
        #expect(BootID.current != Self.otherBoot)
    }

    @Test(
        "a killed process takes no commit with it, and a power cut those since the last flush: then the store goes on from there"
    )
    func reboot() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store"))
        try add(0..<10, store)
        try store.synchronize()
        try add(10..<20, store)
        let (killed, cut, unknown) = (
            try copies.copy(store.configuration.path), try copies.copy(store.configuration.path),
            try copies.copy(store.configuration.path)
        )
        #expect(try ids(killed) == Array(0..<20))
        #expect(try ids(unknown, nil) == Array(0..<10))
        #expect(try ids(cut, Self.otherBoot) == Array(0..<10))
        // From then on it is a store of that boot, and its commits are kept.
        let next = try Store(configuration(cut, Self.otherBoot))
        try add(30..<33, next)
        let killedNext = try copies.copy(cut)
        #expect(try ids(killedNext, Self.otherBoot) == Array(0..<10) + Array(30..<33))
        #expect(try next.verify().isWhole)
    }

    @Test("a store that begins at its last flush is whole in its file alone")
    func verified() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store"))
        try add(0..<10, store)
        try store.synchronize()
        try add(10..<13, store)
        let cut = try copies.copy(store.configuration.path)
        #expect(try ids(cut, Self.otherBoot) == Array(0..<10))
        let report = try Store.verify(path: cut)
        #expect(report.isWhole, "\(report.damage)")
    }

    @Test("a power cut while the store is brought back to its last flush changes nothing")
    func interrupted() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store"))
        try add(0..<10, store)
        try store.synchronize()
        try add(10..<15, store)
        let (path, data) = (store.configuration.path, "/data.mdb")
        let done = try copies.copy(path)
        #expect(try ids(done, Self.otherBoot) == Array(0..<10))
        let (before, after) = (
            try Data(contentsOf: URL(fileURLWithPath: path + data)),
            try Data(contentsOf: URL(fileURLWithPath: done + data))
        )
        for parts in 0..<4 {
            let cut = try copies.copy(path)
            var bytes = before
            for page in 0..<2 where parts & 1 << page != 0 {
                bytes.replaceSubrange(
                    page * 4_096..<page * 4_096 + 4_096, with: after[page * 4_096..<page * 4_096 + 4_096])
            }
            try bytes.write(to: URL(fileURLWithPath: cut + data))
            #expect(try ids(cut, Self.otherBoot) == Array(0..<10), "\(parts)")
        }
    }

    @Test("the last process to close the store leaves all commits on the disk")
    func closed() throws {
        let copies = try Copies()
        do {
            let store = try Store(configuration(copies.root + "/store"))
            try add(0..<10, store)
        }
        #expect(try ids(copies.root + "/store", Self.otherBoot) == Array(0..<10))
    }

    @Test("closing with a flush returns once everything is on the disk, and throws if the disk does not take it")
    func closedAndSynchronized() throws {
        let copies = try Copies()
        var store = try Store(configuration(copies.root + "/store"))
        try add(0..<10, store)
        try store.closeAndSynchronize()
        #expect(throws: StoreError.closed) { try add(10..<11, store) }
        #expect(try ids(copies.copy(store.configuration.path), Self.otherBoot) == Array(0..<10))
        store = try Store(configuration(copies.root + "/failing"))
        try add(0..<10, store)
        // Another process's flush was refused by the disk.
        cp_store32(store.core.storage.page.flushFailure, UInt32(EIO))
        let error = #expect(throws: StoreError.self) { try store.closeAndSynchronize() }
        guard case .storage(operation: "flush", code: EIO, reason: _) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "none")")
            return
        }
        #expect(throws: StoreError.closed) { try add(10..<11, store) }
    }

    @Test("a record of another file, or of none, is not used")
    func strange() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store"))
        try add(0..<5, store)
        try store.synchronize()
        let old = try copies.copy(store.configuration.path)
        try add(5..<39, store)
        try store.synchronize()
        let last = try copies.copy(store.configuration.path)
        try add(39..<40, store)
        try store.synchronize()
        func exchange(_ path: String, _ record: Data?) throws -> [Int] {
            try FileManager.default.removeItem(atPath: path + "/durable.mdb")
            if let record { try record.write(to: URL(fileURLWithPath: path + "/durable.mdb")) }
            return try ids(path, Self.otherBoot)
        }
        func file(_ path: String, _ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        let all = Array(0..<40)
        // The pages of the records may be there completely or in part.
        for stale in [old, last] {
            #expect(try exchange(copies.copy(store.configuration.path), file(stale, "durable.mdb")) == all)
        }
        // A file from a backup, and a compacted one, each beside the record of another file.
        try file(old, "data.mdb").write(to: URL(fileURLWithPath: last + "/data.mdb"))
        #expect(try ids(last, Self.otherBoot) == Array(0..<5))
        let compact = try copies.copy(store.configuration.path)
        try store.compact(to: copies.root + "/compact")
        try file(copies.root + "/compact", "data.mdb").write(to: URL(fileURLWithPath: compact + "/data.mdb"))
        #expect(try ids(compact, Self.otherBoot) == all)
        #expect(try exchange(copies.copy(store.configuration.path), nil) == all)
        #expect(try exchange(copies.copy(store.configuration.path), Data()) == all)
        #expect(try exchange(copies.copy(store.configuration.path), Data(repeating: 7, count: 8_192)) == all)
    }

    @Test("one of the two places of the record is whole while the other is written, wherever that ends")
    func torn() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store"))
        try add(0..<5, store)
        try store.synchronize()
        let (path, name) = (store.configuration.path, "/durable.mdb")
        let before = try Data(contentsOf: URL(fileURLWithPath: path + name))
        try add(5..<6, store)
        let newest = try copies.copy(path)
        try store.synchronize()
        let after = try Data(contentsOf: URL(fileURLWithPath: path + name))
        let changed = before.indices.filter { before[$0] != after[$0] }
        for end in changed.dropFirst() {
            let cut = try copies.copy(newest)
            try (after[..<end] + before[end...]).write(to: URL(fileURLWithPath: cut + name))
            #expect(try ids(cut, Self.otherBoot) == Array(0..<5), "\(end)")
        }
    }

    @Test("the pages of the last flush are bounded and are not listed as a held version")
    func bounded() throws {
        let copies = try Copies()
        let store = try Store(configuration(copies.root + "/store", every: 16))
        try add(0..<100, store)
        let before = store.fileBytes
        for round in 0..<2_000 {
            try store.write { try #require(try $0.object(Note.self, forPrimaryKey: round % 100)).score = round }
        }
        // At most 64 commits wait for a flush, and as many for the flush in progress.
        let grownKB = (store.fileBytes - before) >> 10
        print("2 000 commits: \(grownKB) KB more")
        #expect(grownKB <= 2 * 64 * 30)
        // A flush in progress reads a version for a short time.
        try store.synchronize()
        for _ in 0..<10_000 where store.activeVersions != 1 { usleep(1_000) }
        #expect(store.activeVersions == 1 && store.oldestPin == nil)
    }

    @Test("a flush that could not begin is tried again")
    func triedAgain() throws {
        let copies = try Copies()
        var configuration = configuration(copies.root + "/store")
        configuration.flushes.retryNs = nil
        let store = try Store(configuration)
        try add(0..<5, store)
        let page = store.core.storage.page
        let before = cp_load64(page.flushed)
        func wish(until isSo: () -> Bool) {
            // The thread may not be waiting for a request yet.
            repeating(atMost: 2_000, until: isSo) {
                let round = cp_load32(page.flushRound)
                _ = cp_add32(page.flushWish, 1)
                _ = cp_futex_wake_all(page.flushWish)
                _ = cp_futex_wait(page.flushRound, round, 10_000_000)
            }
        }
        // The magic number of the newest header, which the engine does not read again.
        let file = open(configuration.path + "/data.mdb", O_RDWR)
        defer { close(file) }
        func transaction(_ place: Int) -> UInt64 {
            var number: UInt64 = 0
            pread(file, &number, 8, off_t(place * 4_096 + 144))
            return number
        }
        let place = off_t((transaction(1) > transaction(0) ? 4_096 : 0) + 16)
        var magic: UInt32 = 0
        try #require(pread(file, &magic, 4, place) == 4 && magic == 0xbeef_c0de)
        try #require(pwrite(file, [0, 0, 0, 0], 4, place) == 4)
        let round = cp_load32(page.flushRound)
        wish { cp_load32(page.flushRound) != round }
        #expect(cp_load64(page.flushed) == before && cp_load32(page.flushFailure) == 0)
        try #require(pwrite(file, &magic, 4, place) == 4)
        wish { cp_load64(page.flushed) > before }
        #expect(cp_load64(page.flushed) >= max(transaction(0), transaction(1)))
    }
}
