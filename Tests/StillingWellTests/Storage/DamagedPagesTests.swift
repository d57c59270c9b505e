// Tests of closed stores with pages that refer to wrong places, or would make a writer write there. `make damage`
// searches for further cases.
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import Testing

@testable import StillingWell

extension ClosedStore {
    /// Makes a store of 1,000 notes.
    fileprivate static func notes() throws -> ClosedStore {
        try ClosedStore([Note.self, Person.self]) { store in
            try store.write { connection in
                for id in 0..<1_000 { try connection.add(Note(id: id, title: "note \(id)")) }
            }
            // Makes free pages.
            for id in 0..<10 { try DamagedPagesTests.touch(store, id) }
        }
    }
}

@Suite("Damaged pages")
struct DamagedPagesTests {
    static func touch(_ store: Store, _ id: Int) throws {
        try store.write { try #require(try $0.object(Note.self, forPrimaryKey: id)).score += 1 }
    }

    private func expectDamage(_ body: () throws -> Void) {
        let error = #expect(throws: StoreError.self, performing: body)
        #expect(error.map { "\($0)" }?.contains("damaged") == true, "\(error.map { "\($0)" } ?? "none")")
    }

    @Test("a write that would change a damaged page fails, others of the same table do not")
    func page() throws {
        let closed = try ClosedStore.notes()
        let leaves = closed.leaves(holding: "note 500")
        try #require(!leaves.isEmpty)
        // The used part of the page now seems to begin in its header. The engine would move entries there.
        for leaf in leaves { closed.set(UInt16(8), at: leaf + 14) }
        try closed.save()
        try closed.open { store in
            expectDamage { try Self.touch(store, 500) }
            try Self.touch(store, 999)
            #expect(try store.read { try $0.object(Note.self, forPrimaryKey: 999)?.score } == 1)
        }
    }

    @Test("a value whose length leads beyond the end of the file is not read")
    func value() throws {
        let closed = try ClosedStore.notes()
        let leaves = closed.leaves(holding: "note 500")
        try #require(!leaves.isEmpty)
        for entry in leaves.flatMap({ closed.entries(of: $0) }) { closed.set(UInt32(1 << 30), at: entry) }
        try closed.save()
        try closed.open { store in
            let error = #expect(throws: StoreError.self) {
                _ = try store.read { try $0.object(Note.self, forPrimaryKey: 500)?.title }
            }
            guard case .storage(_, code: MDB_CORRUPTED, _) = error else {
                Issue.record("\(error.map { "\($0)" } ?? "nothing")")
                return
            }
            let other = try store.read { try $0.object(Note.self, forPrimaryKey: 999)?.title }
            #expect(other == "note 999")
        }
    }

    @Test(
        "a stored table that is not found is damage, and not made anew: it would be an empty one",
        arguments: ["log", "meta", "rows"])
    func table(_ name: String) throws {
        let closed = try ClosedStore.notes()
        let table = name == "rows" ? EngineName.rows(1) : name
        let places = closed.keys(table)
        try #require(!places.isEmpty)
        // The changed name keeps its place in the order.
        let last = UInt8(table.utf8.last!)
        for place in places { closed.set(last + 1, at: place + table.utf8.count - 1) }
        try closed.save()
        let error = #expect(throws: StoreError.self) { try closed.open { _ in } }
        #expect(error.map { "\($0)" }?.contains("'\(table)'") == true, "\(error.map { "\($0)" } ?? "none")")
    }

    @Test("a failed assertion of the engine is an error of the reader")
    func assertion() throws {
        let closed = try ClosedStore.notes()
        try #require(!closed.branches.isEmpty)
        // A branch page must have two entries at least.
        for branch in closed.branches { closed.set(UInt16(18), at: branch + 12) }
        try closed.save()
        try closed.open { store in
            expectDamage { _ = try store.read { try $0.object(Note.self, forPrimaryKey: 999)?.title } }
            expectDamage { try Self.touch(store, 999) }
        }
    }

    @Test("a count of entries that leads beyond the file is an error of its reader only")
    func count() throws {
        let closed = try ClosedStore.notes()
        try #require(!closed.branches.isEmpty)
        // Read as an unsigned number, the count of entries would be huge.
        for branch in closed.branches { closed.set(UInt16(0), at: branch + 12) }
        try closed.save()
        try closed.open { store in
            expectDamage { _ = try store.read { try $0.object(Note.self, forPrimaryKey: 999)?.title } }
            try store.write { try $0.add(Person()) }
            #expect(try store.read { try $0.objects(Person.self).count } == 1)
        }
    }

    @Test("swapped pages are an error of a scan")
    func order() throws {
        let closed = try ClosedStore.notes()
        let (early, late) = (closed.leaves(holding: "note 200"), closed.leaves(holding: "note 800"))
        try #require(!early.isEmpty && Set(early).isDisjoint(with: late))
        for (one, other) in zip(early, late) { closed.swap(one, other) }
        try closed.save()
        try closed.open { store in
            // A loop asks for the rows after the last one, and would be led back each time.
            expectDamage { try store.read { for note in try $0.objects(Note.self) { _ = note.title } } }
        }
    }

    @Test("nothing is written to a file that was cut short, where only the engine has met its end")
    func cut() throws {
        let test = try TestStore([Person.self])
        try test.store.write { connection in
            for number in 0..<1_000 {
                let person = Person()
                person.name = "person \(number)"
                try connection.add(person)
            }
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: test.path + "/data.mdb"))
        defer { try? file.close() }
        try file.truncate(atOffset: 2 * 4_096)
        // The engine looks up text keys.
        #expect(throws: StoreError.self) {
            _ = try test.store.read { try $0.object(Person.self, forPrimaryKey: "person 500") }
        }
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try test.store.write { try $0.add(Person()) } }
            let text = error.map { "\($0)" } ?? "none"
            #expect(text.contains("cut short"), "\(text)")
        }
    }

    @Test("a file that counts more commits than any store comes to is refused", arguments: [0, 4_096])
    func commits(_ header: Int) throws {
        let closed = try ClosedStore.notes()
        closed.set(closed.number(at: header + 144, UInt64.self) | 1 << 63, at: header + 144)
        try closed.save()
        expectDamage { try closed.open { _ in } }
    }

    @Test("an impossibly long list of free pages is an error of the writer")
    func freePages() throws {
        let closed = try ClosedStore.notes()
        let page = closed.freePages * ClosedStore.pageBytes
        let entry = page + Int(closed.number(at: page + 16, UInt16.self))
        closed.set(Int64(5_000), at: entry + 16)
        try closed.save()
        try closed.open { store in
            let count = try store.read { try $0.objects(Note.self).count }
            #expect(count == 1_000)
            expectDamage { try Self.touch(store, 0) }
        }
    }
}
