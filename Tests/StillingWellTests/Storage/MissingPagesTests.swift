// Tests of wrong pages in trees of keys, indexes and orders of lists.
import CStillingWellEngine
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import Testing

@testable import StillingWell

private final class Word: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Stored(.indexed) var text = ""
    @Stored(.indexed) var kind = 0
    @Listed var numbers: List<Int>
}

private final class Other: StoredObject {
    @Stored(.primaryKey) var name = ""
}

@Suite("Pages that are not the requested ones")
struct MissingPagesTests {
    /// Number of objects. Every fourth of them has a list.
    private static let count = 800
    private let closed: ClosedStore
    private let words, elements, others: UInt32

    init() throws {
        var (words, elements, others): (UInt32, UInt32, UInt32) = (0, 0, 0)
        closed = try ClosedStore([Word.self, Other.self]) { store in
            let table = try store.core.storage.table(of: Word.self)
            (words, elements) = (table.id, try #require(table.links?.lists.first?.elements))
            others = try store.core.storage.table(of: Other.self).id
            try store.write { connection in
                for number in 0..<Self.count {
                    let word = Word()
                    (word.name, word.text, word.kind) = ("name \(number)", "text \(number)", number % 2)
                    try connection.add(word)
                    if number % 4 == 0 { word.numbers.append(contentsOf: 0..<20) }
                    let other = Other()
                    other.name = "name \(number)"
                    try connection.add(other)
                }
            }
        }
        (self.words, self.elements, self.others) = (words, elements, others)
    }

    /// Returns the engine's table that a lookup reads.
    private func table(_ kind: Kind) -> String {
        switch kind {
        case .keys: EngineName.keys(words)
        case .index: ColumnIndex.name(words, 1)
        case .values: ColumnIndex.name(words, 2)
        case .orders: EngineName.ranks(elements)
        }
    }

    /// Kind of a lookup.
    enum Kind: String, CaseIterable, Sendable {
        case keys, index, values, orders

        /// Returns whether the stored value is found.
        fileprivate func find(_ number: Int, _ connection: Connection) throws -> Bool {
            switch self {
            case .keys: return try connection.object(Word.self, forPrimaryKey: "name \(number)")?.kind == number % 2
            case .index:
                let found = try connection.objects(Word.self).where(\.text == "text \(number)")
                return found.map(\.name) == ["name \(number)"]
            case .values:
                // The count alone is the engine's.
                return try connection.objects(Word.self).where(\.kind == number % 2).map(\.name).count == count / 2
            case .orders:
                let word = try #require(try connection.objects(Word.self).first { $0.name == "name \(number & ~3)" })
                return Array(word.numbers) == Array(0..<20)
            }
        }
    }

    /// Checks that lookups, in reads and in writes, find the stored value or throw, and that some throw.
    private func expectErrors(_ kind: Kind, _ comment: Comment) throws {
        try closed.open { store in
            var errors = [0, 0]
            for number in stride(from: 0, to: Self.count, by: kind == .values ? 399 : 19) {
                for place in 0..<2 {
                    do {
                        let isFound =
                            try place == 0
                            ? store.read { try kind.find(number, $0) } : store.write { try kind.find(number, $0) }
                        #expect(isFound, "\(comment), \(number), \(place == 0 ? "read" : "write")")
                    } catch let error as StoreError {
                        #expect(error.isOfFile, "\(comment): \(error)")
                        errors[place] += 1
                    }
                }
            }
            #expect(errors.allSatisfy { $0 > 0 }, "\(comment): \(errors)")
        }
    }

    private func leaves(_ kind: Kind) throws -> [Int] {
        let pages =
            kind == .values
            ? closed.leaves(below: try #require(try closed.valueTrees(of: table(kind)).first))
            : closed.leaves(below: try closed.root(of: table(kind)))
        try #require(pages.count > 1)
        return pages.map { $0 * ClosedStore.pageBytes }
    }

    @Test("are errors if two are swapped", arguments: Kind.allCases)
    func swapped(_ kind: Kind) throws {
        let leaves = try leaves(kind)
        try closed.damaged({ closed.swap(leaves[0], leaves[leaves.count - 1]) }, { try expectErrors(kind, "swapped") })
    }

    @Test("are errors where a page has the right number and the content of another page", arguments: Kind.allCases)
    func copied(_ kind: Kind) throws {
        let leaves = try leaves(kind)
        try closed.damaged(
            { closed.copy(leaves[leaves.count - 1], over: leaves[0]) }, { try expectErrors(kind, "copied") })
    }

    @Test("are errors where the engine would search a page without an end", arguments: Kind.allCases)
    func endless(_ kind: Kind) throws {
        let leaf = try leaves(kind)[0]
        // Gives the page all types at once, and a negative number of keys.
        try closed.damaged({ closed.set(0x7fff as UInt64, at: leaf + 9) }, { try expectErrors(kind, "endless") })
    }

    @Test("are errors where a key was changed into one that sorts just before it", arguments: [Kind.keys, .index])
    func changedKey(_ kind: Kind) throws {
        let key = Array((kind == .keys ? "name 190" : "text 190").utf8)
        // Some of the places are in unused bytes of a page.
        let places = try leaves(kind).flatMap { closed.bytes[$0..<$0 + ClosedStore.pageBytes].ranges(of: key) }
        try #require(!places.isEmpty)
        try closed.damaged(
            { for place in places { closed.set(UInt8(ascii: "/"), at: place.upperBound - 1) } },
            { try expectErrors(kind, "changed key") })
    }

    @Test("are errors where a page has lost entries", arguments: [Kind.keys, .index, .orders])
    func cut(_ kind: Kind) throws {
        let leaf = try leaves(kind)[1]
        let end = closed.number(at: leaf + 12, UInt16.self)
        try closed.damaged({ closed.set(16 + (end - 16) / 4 * 2, at: leaf + 12) }, { try expectErrors(kind, "cut") })
    }

    @Test("are errors where the tree of another table is followed, or none", arguments: [Kind.keys, .index, .orders])
    func root(_ kind: Kind) throws {
        let record = try closed.record(of: table(kind)) + 40
        let other = try closed.root(of: EngineName.keys(others))
        try closed.damaged({ closed.set(other, at: record) }, { try expectErrors(kind, "another root") })
        try closed.damaged({ closed.set(UInt64.max, at: record) }, { try expectErrors(kind, "no root") })
        try closed.damaged(
            {
                closed.set(closed.tables, at: record)
                // The depth of that tree.
                closed.set(UInt16(1), at: record - 34)
            }, { try expectErrors(kind, "the tree of tables") })
    }

    @Test("a list whose root is gone is damaged, and not empty")
    func rootNode() throws {
        try closed.save()
        try closed.open { store in
            let storage = store.core.storage
            let order = try #require(storage.table(of: Word.self).links?.lists.first?.order)
            var transaction: LMDBTransaction?
            try storage.check(mdb_txn_begin(storage.environment, nil, 0, &transaction), "begin")
            // Every fourth object has a list, and so has the first.
            let code = RankKey(1, 0).with { engine_del(transaction, order.handle, &$0, nil) }
            try storage.check(code, "delete")
            try storage.check(engine_commit(transaction), "commit")
            for name in ["name 0", "name 1"] {
                let error = #expect(throws: StoreError.self) {
                    _ = try store.read { try $0.object(Word.self, forPrimaryKey: name)?.numbers.count }
                }
                #expect(error?.isOfFile == true)
            }
            let whole = try store.read { try $0.object(Word.self, forPrimaryKey: "name 4")?.numbers.map { $0 } }
            #expect(whole == Array(0..<20))
        }
    }

    @Test("a missing key is not an error, in a whole file and in an empty one")
    func absent() throws {
        try closed.save()
        try closed.open { store in
            try store.read { (connection) throws in
                #expect(try connection.object(Word.self, forPrimaryKey: "none") == nil)
                #expect(try connection.objects(Word.self).where(\.text == "none").isEmpty)
                #expect(try connection.objects(Word.self)[1].numbers.isEmpty)
            }
            try store.write { connection in
                #expect(try connection.object(Word.self, forPrimaryKey: "none") == nil)
                for word in try connection.objects(Word.self) { try connection.delete(word) }
                #expect(try connection.object(Word.self, forPrimaryKey: "name 1") == nil)
                #expect(try connection.objects(Word.self).where(\.text == "text 1").isEmpty)
            }
            try store.read { (connection) throws in
                #expect(try connection.object(Word.self, forPrimaryKey: "name 1") == nil)
                #expect(try connection.objects(Word.self).where(\.kind == 1).isEmpty)
            }
        }
    }
}
