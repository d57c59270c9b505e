// Tests of rows read directly from the mapped file.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellTree
import Testing

@testable import StillingWell

@Suite("Rows read where they are mapped")
struct MappedRowsTests {
    private struct Version {
        let snapshot: Snapshot
        let notes: [Int: (score: Int, title: String)]
    }

    @Test("are those that were stored, at every version", arguments: 0..<4)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: round % 2 == 0 ? .memory : .relaxed)
        let storage = test.store.core.storage
        let table = try storage.table(of: Note.self)
        var notes: [Int: (score: Int, title: String)] = [:]
        var held: [Version] = []
        func check(_ version: Version, _ place: String) {
            let comment: Comment = "\(place), TIDEGAUGE_SEED=\(seed)"
            var ids: [Int: ObjectID] = [:]
            for id in [Int.min, -1, 5_000, .max] + Array(0..<2_000) {
                let found = version.snapshot.find(table, primaryKey: .int(id))
                #expect((found == nil) == (version.notes[id] == nil), "\(id), \(comment)")
                if let found { ids[id] = found }
            }
            for (id, note) in version.notes {
                guard let found = ids[id], let row = version.snapshot.row(table, found) else {
                    Issue.record("no row of \(id), \(comment)")
                    continue
                }
                let title = String(decoding: row.bytes(1), as: UTF8.self)
                #expect(Int._read(row, 2) == note.score && title == note.title, "\(id), \(comment)")
            }
            for id in 0..<UInt64(4_000) where !ids.values.contains(ObjectID(rawValue: id)) {
                #expect(version.snapshot.row(table, ObjectID(rawValue: id)) == nil, comment)
            }
            var scanned: [ObjectID] = []
            version.snapshot.scan(table) { id, row, _ in
                #expect(version.snapshot.row(table, id)?.base == row.base, comment)
                scanned.append(id)
                return true
            }
            #expect(scanned == ids.values.sorted(), comment)
            let most = random.below(scanned.count + 1)
            var first: [ObjectID] = []
            version.snapshot.scan(table) { id, _, _ in
                if first.count < most { first.append(id) }
                return first.count < most
            }
            #expect(first == Array(scanned.prefix(most)), comment)
            #expect(version.snapshot.failure == nil, comment)
        }
        for step in 0..<6 {
            try test.store.write { connection in
                for _ in 0..<(step == 0 ? 3 : 250) {
                    let id = random.below(2_000)
                    let known = try connection.object(Note.self, forPrimaryKey: id)
                    if let known, random.oneIn(3) {
                        notes[id] = nil
                        try connection.delete(known)
                        continue
                    }
                    let length = random.oneIn(20) ? random.below(20_000) : random.below(60)
                    let note = (score: random.below(1_000), title: String(repeating: "t", count: length))
                    notes[id] = note
                    if let known {
                        (known.score, known.title) = note
                    } else {
                        try connection.add(Note(id: id, score: note.score, title: note.title))
                    }
                }
            }
            // Some snapshots end, and their readers are used for the next ones.
            held.removeAll { _ in random.oneIn(2) }
            held.append(Version(snapshot: try storage.openSnapshot(), notes: notes))
            for (index, version) in held.enumerated() { check(version, "step \(step), version \(index)") }
        }
        #expect(storage.pageMap.isKnown && held.last?.snapshot.pages(table.rows, table.rowsName) != nil)
    }

    @Test("a row that was found before its file was cut short is damage, and no end of the process")
    func cutBehindFoundRows() throws {
        let test = try TestStore(durability: .relaxed)
        let storage = test.store.core.storage
        let table = try storage.table(of: Note.self)
        try test.store.write { connection in for id in 0..<2_000 { try connection.add(Note(id: id, score: id)) } }
        let snapshot = try storage.openSnapshot()
        let rows = try (0..<2_000).map { key in
            let id = try #require(snapshot.find(table, primaryKey: .int(key)))
            return try #require(snapshot.row(table, id))
        }
        #expect(rows.enumerated().allSatisfy { Int._read($1, 2) == $0 } && snapshot.failure == nil)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: test.path + "/data.mdb"))
        defer { try? file.close() }
        try file.truncate(atOffset: 2 * 4_096)
        // These bytes are read outside of the engine's calls.
        #expect(rows.dropFirst().contains { Int._read($0, 2) == 0 })
        #expect(snapshot.failure?.isOfFile == true)
    }

    /// Interpolation search, which assumes an even distribution, begins too high for most of these numbers, or too low.
    @Test("are found if some pages have few numbers and others many", arguments: [true, false])
    func uneven(_ isSparseFirst: Bool) throws {
        let half = 2_000
        let test = try TestStore(durability: .memory)
        let storage = test.store.core.storage
        let table = try storage.table(of: Note.self)
        func isSparse(_ index: Int) -> Bool { (index < half) == isSparseFirst }
        // A page has few numbers of a range if keys are far apart, and few rows if titles are long.
        var keys = [0]
        for index in 1..<2 * half { keys.append(keys[index - 1] + (isSparse(index) ? 1_000 : 1)) }
        try test.store.write { connection in
            for (index, key) in keys.enumerated() {
                let title = String(repeating: "t", count: isSparse(index) ? 0 : 1_000)
                try connection.add(Note(id: key, score: index, title: title))
            }
        }
        let snapshot = try storage.openSnapshot()
        // On a miss the snapshot asks the engine, which only costs time. So the test searches the trees directly.
        let rows = try #require(snapshot.pages(table.rows, table.rowsName))
        let keyed = try #require(table.primaryIndex.flatMap { snapshot.pages($0, table.keysName) })
        for (index, key) in keys.enumerated() {
            let number = try #require(PrimaryKey.number(of: .int(key)))
            #expect(keyed.value(NumberKey(number)) != nil, "key \(key)")
            let id = try #require(snapshot.find(table, primaryKey: .int(key)))
            let row = try #require(snapshot.row(table, id))
            #expect(rows.value(IDKey(id: id.rawValue))?.baseAddress == row.base, "row of \(key)")
            #expect(Int._read(row, 2) == index, "row of \(key)")
            var first: ObjectID?
            _ = snapshot.scanRun(table, from: id.rawValue) { rows, _ in first = rows.first?.id }
            #expect(first == id, "from \(id)")
        }
        #expect(snapshot.failure == nil)
    }

    @Test("an entry at the end of its page has no number of an overflow page", arguments: [4_072, 4_076, 4_080])
    func lastEntry(_ offset: Int) throws {
        let page = UnsafeMutableRawPointer.allocate(byteCount: MappedPage.bytes, alignment: 8)
        defer { page.deallocate() }
        page.initializeMemory(as: UInt8.self, repeating: 0, count: MappedPage.bytes)
        // A leaf with one entry, whose flags claim a value in overflow pages, and whose key has eight bytes.
        page.storeBytes(of: 2, toByteOffset: 10, as: UInt16.self)
        page.storeBytes(of: 18, toByteOffset: 12, as: UInt16.self)
        page.storeBytes(of: UInt16(offset), toByteOffset: 16, as: UInt16.self)
        page.storeBytes(of: 1 | 8 << 16, toByteOffset: offset + 4, as: UInt32.self)
        let mapped = try #require(MappedPage(page, 0))
        let entry = mapped.entry(0)
        #expect(entry.base == page + offset && entry.hasOwnPages)
        #expect(mapped.firstOwnPage(entry) == (offset + 24 <= MappedPage.bytes ? 0 : nil))
    }
}
