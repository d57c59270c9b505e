import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Synchronization
import Testing

@testable import StillingWell

@Suite("Versions that are held for long", .serialized, .onThreads)
struct HeldVersionsTests {
    private func makeStore(_ notes: Int, _ durability: Durability = .relaxed) throws -> TestStore {
        let test = try TestStore(durability: durability, flushes: .off)
        test.store.core.storage.heldVersions.patienceNs.store(0, ordering: .relaxed)
        try test.store.write { connection in
            for id in 0..<notes { try connection.add(Note(id: id, score: id % 10, title: "note \(id)", group: id % 7)) }
        }
        return test
    }

    /// Commits until upkeep has copied pages of held versions.
    private func commitUntilCopied(_ test: TestStore, _ change: () throws -> Void) throws {
        let versions = test.store.core.storage.heldVersions
        try repeating(atMost: 1_000_000, until: { versions.copiedBytes.load(ordering: .relaxed) > 0 }, change)
        try #require(versions.copiedBytes.load(ordering: .relaxed) > 0)
    }

    private func touch(_ test: TestStore, _ id: Int, _ score: Int) throws {
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: id)).score = score }
    }

    @Test("in a small file a version moves to memory before it has kept several times the content")
    func smallFile() throws {
        let test = try makeStore(100)
        let frozen = try test.store.read { try $0.objects(Note.self).freeze() }
        // A version in a large file moves to memory after 256 commits at the earliest.
        for round in 0..<192 { try touch(test, round % 100, round) }
        repeating(atMost: 60_000, until: { test.store.heldBytes > 0 }) { usleep(1_000) }
        #expect(test.store.heldBytes > 0)
        #expect(frozen.count == 100 && frozen[99].score == 9)
    }

    @Test("the file does not grow for frozen objects, and their memory is released with them", arguments: [1, 10])
    func file(_ pins: Int) throws {
        let test = try makeStore(1_000)
        let opened = try descriptors(of: test)
        var frozen = try (0..<pins).map { pin in
            try touch(test, pin, pin)
            return try test.store.read { try $0.objects(Note.self).freeze() }
        }
        var round = 0
        let step = {
            round += 1
            try touch(test, round % 1_000, round)
        }
        try commitUntilCopied(test, step)
        // Lets the file grow until the version is in memory.
        for _ in 0..<1_000 { try step() }
        let before = test.store.fileBytes
        let commits = 4_000
        for _ in 0..<commits { try step() }
        let perCommit = (test.store.fileBytes - before) / commits
        print("\(pins) pins: \(perCommit) bytes of file per commit, \(test.store.heldBytes) bytes of memory")
        #expect(perCommit <= 1_024)
        #expect(test.store.heldBytes <= pins * test.store.fileBytes)
        #expect(frozen.allSatisfy { $0.count == 1_000 && $0[999].score == 9 })
        #expect(test.store.oldestPin?.version == frozen.first?.version)
        frozen = []
        // Released with the last reader, even without another commit. Upkeep may still be in its last step.
        try repeating(atMost: 60_000, until: { try descriptors(of: test) == opened }) { usleep(1_000) }
        #expect(test.store.heldBytes == 0)
        #expect(try descriptors(of: test) == opened)
    }

    /// Number of descriptors of the data file. Each mapping in use has one.
    private func descriptors(of test: TestStore) throws -> Int {
        let data = test.path + "/data.mdb"
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == data
        }
    }

    private struct Content: Equatable {
        var notes: [Int: Int] = [:]
        var ids: [Int] { notes.keys.sorted() }
    }

    private struct Held {
        let all: FrozenResults<Note>
        let some: FrozenResults<Note>
        let snapshot: Snapshot
        let expected: Content
    }

    private func check(_ held: Held, _ test: TestStore) throws {
        let expected = held.expected
        #expect(held.all.map(\.id) == expected.ids)
        #expect(held.all.map(\.score) == expected.ids.map { expected.notes[$0] })
        #expect(held.some.map(\.id) == expected.ids.filter { expected.notes[$0]! >= 50 })
        let table = try #require(test.store.core.storage.tables[ObjectIdentifier(Note.self)])
        for id in expected.ids {
            let found = held.snapshot.find(table, primaryKey: .int(id))
            #expect(found.flatMap { held.snapshot.row(table, $0) } != nil)
        }
        #expect(held.snapshot.find(table, primaryKey: .int(-1)) == nil && held.snapshot.failure == nil)
    }

    @Test(
        "a frozen version reads as it was, while its rows are changed and deleted",
        arguments: [Durability.relaxed, .memory], seeds(2))
    func history(_ durability: Durability, _ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try makeStore(0, durability)
        var now = Content()
        var held: [Held] = []
        var next = 0
        for round in 0..<3_000 {
            try test.store.write { connection in
                for _ in 0..<1 + random.below(3) {
                    switch random.below(10) {
                    case 0..<4:
                        try connection.add(Note(id: next, score: random.below(100), title: "note \(next)"))
                        now.notes[next] = try #require(try connection.object(Note.self, forPrimaryKey: next)).score
                        next += 1
                    case 4..<7 where next > 0:
                        let id = random.below(next)
                        guard now.notes[id] != nil else { continue }
                        let score = random.below(100)
                        try #require(try connection.object(Note.self, forPrimaryKey: id)).score = score
                        now.notes[id] = score
                    case 7..<10 where now.notes.count > 100:
                        let id = random.below(next)
                        guard now.notes[id] != nil else { continue }
                        try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: id)))
                        now.notes[id] = nil
                    default: break
                    }
                }
            }
            if random.below(200) == 0 {
                held.append(
                    try test.store.read { connection in
                        let notes = try connection.objects(Note.self).sorted(by: \.id)
                        return Held(
                            all: try notes.freeze(), some: try notes.where(\.score >= 50).freeze(),
                            snapshot: try test.store.core.storage.openSnapshot(), expected: now)
                    })
            }
            if random.below(400) == 0, !held.isEmpty { held.remove(at: random.below(held.count)) }
            if round % 500 == 499, let one = held.randomElement(using: &random) { try check(one, test) }
        }
        for one in held { try check(one, test) }
        #expect(test.store.heldBytes > 0, "seed \(seed): nothing was held for long")
    }

    @Test("a long read block reads the version at which it began")
    func readBlock() throws {
        let test = try makeStore(500)
        try test.store.read { connection in
            let notes = try connection.objects(Note.self)
            let first = try #require(try connection.object(Note.self, forPrimaryKey: 0))
            var round = 0
            try commitUntilCopied(test) {
                round += 1
                try touch(test, round % 500, 1_000)
            }
            for _ in 0..<1_000 {
                round += 1
                try touch(test, round % 500, 1_000)
            }
            #expect(first.score == 0 && notes.count == 500)
            #expect(notes.map(\.score) == (0..<500).map { $0 % 10 })
        }
        #expect(try test.store.read { try $0.objects(Note.self).allSatisfy { $0.score == 1_000 } })
    }

    /// The reader's mapping was retired, so the reader moves to the current one before it begins.
    @Test("a snapshot that begins with a reader of a retired mapping is the newest version")
    func beginsAnew() throws {
        let test = try makeStore(500)
        let storage = test.store.core.storage
        let table = try #require(storage.tables[ObjectIdentifier(Note.self)])
        let readers = try (0..<4).map { _ in
            let reader = try storage.takeReader()
            _ = try storage.begin(reader)
            return reader
        }
        var scores = (0..<500).map { $0 % 10 }
        var round = 0
        let step = {
            round += 1
            scores[round % 500] = 1_000 + round
            try touch(test, round % 500, 1_000 + round)
        }
        try commitUntilCopied(test, step)
        // Overwrites pages that were copied.
        for _ in 0..<1_000 { try step() }
        #expect(readers.allSatisfy { $0.map.isRetired.load(ordering: .relaxed) })
        for reader in readers {
            reader.reset()
            let snapshot = try storage.openSnapshot(with: reader)
            let rows = (0..<500).map { id in
                snapshot.find(table, primaryKey: .int(id)).flatMap { snapshot.row(table, $0) }
            }
            #expect(rows.map { $0.map { Int._read($0, 2) } } == scores && snapshot.failure == nil)
        }
    }
}
