// Tests of the list of free pages of a closed file. Writes use the listed pages, so a wrong number would destroy data.
import Foundation
import Testing

@testable import StillingWell

private final class Part: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored(.indexed) var kind = 0
    @Stored var text = ""
    @Listed var numbers: List<Int>
}

@Suite("The list of free pages")
struct FreePagesTests {
    private let closed: ClosedStore
    private let parts, elements: UInt32
    private static let count = 2_000

    init() throws {
        var (parts, elements): (UInt32, UInt32) = (0, 0)
        closed = try ClosedStore([Part.self]) { store in
            let table = try store.core.storage.table(of: Part.self)
            (parts, elements) = (table.id, try #require(table.links?.lists.first?.elements))
            try store.write { connection in
                for id in 0..<Self.count {
                    let part = Part()
                    (part.id, part.kind, part.text) = (id, id % 3, "part \(id)")
                    try connection.add(part)
                }
                let first = try #require(try connection.object(Part.self, forPrimaryKey: 0))
                first.text = String(repeating: "t", count: 20_000)
                first.numbers.append(contentsOf: 0..<500)
            }
            for id in 1..<20 { try Self.touch(store, id) }
        }
        (self.parts, self.elements) = (parts, elements)
    }

    private static func touch(_ store: Store, _ id: Int) throws {
        try store.write { try #require(try $0.object(Part.self, forPrimaryKey: id)).text += "." }
    }

    /// Offset of the first list of free pages, in a tree of one page.
    private var list: Int { closed.entries(of: closed.freePages * ClosedStore.pageBytes)[0] + 16 }

    /// The page numbers in the list, in descending order.
    private var listed: [Int] {
        (0..<closed.number(at: list, Int.self)).map { closed.number(at: list + 8 + 8 * $0, Int.self) }
    }

    /// Replaces the page numbers in the list.
    private func list(_ pages: [Int]) {
        closed.set(pages.count, at: list)
        for (index, page) in pages.enumerated() { closed.set(page, at: list + 8 + 8 * index) }
    }

    private func expectRefused(_ comment: Comment) throws {
        try closed.open { store in
            #expect(try store.read { try $0.objects(Part.self).count } == Self.count, comment)
            for id in 100..<102 {
                let error = #expect(throws: StoreError.self, comment) { try Self.touch(store, id) }
                let text = error.map { "\($0)" } ?? "none"
                #expect(text.contains("free pages") && text.contains(closed.path), "\(comment): \(text)")
            }
            let texts = try store.read { try $0.objects(Part.self).where(\.kind == 1).map(\.text) }
            #expect(texts.contains("part 100") && texts.count == Self.count / 3 + 1, comment)
        }
        let damage = try Store.verify(path: closed.path).damage
        #expect(damage.contains { $0.contains("free") }, "\(comment): \(damage)")
    }

    @Test("a whole file's list is used: writes continue, and use the pages that it names")
    func whole() throws {
        try #require(listed.count > 1)
        try closed.save()
        try closed.open { store in
            for id in 100..<130 { try Self.touch(store, id) }
            #expect(try store.verify().isWhole)
        }
    }

    @Test("a page in use is an error for the writer, whichever tree reaches that page")
    func inUse() throws {
        let rows = try closed.root(of: EngineName.rows(parts))
        let ranks = try closed.root(of: EngineName.ranks(elements))
        let keys = try closed.root(of: EngineName.keys(parts))
        let value = try #require(try closed.largeValues(of: EngineName.values).first)
        let trees = try closed.valueTrees(of: ColumnIndex.name(parts, 1))
        try #require(trees.count == 3)
        let victims: [(String, Int)] = [
            ("branch of rows", rows), ("leaf of rows", closed.children(of: rows)[3]),
            ("leaf of keys", try #require(closed.leaves(below: keys).last)),
            ("orders of lists", try #require(closed.leaves(below: ranks).first)),
            ("large value", value), ("inside of a large value", value + 2),
            ("root of the values of a key", trees[1]), ("values of a key", closed.leaves(below: trees[2])[1]),
            ("tables", closed.tables), ("free pages", closed.freePages),
        ]
        for (name, page) in victims {
            try closed.damaged({ list([page]) }, { try expectRefused("\(name), page \(page)") })
        }
    }

    @Test(
        "a wrong list is an error for the writer: a page twice, behind the last, of a later commit, out of order, a wrong count"
    )
    func notAList() throws {
        let pages = listed
        try closed.damaged({ list([pages[0], pages[0]]) }, { try expectRefused("twice") })
        try closed.damaged({ list([closed.lastPage + 1, pages[0]]) }, { try expectRefused("behind the last") })
        try closed.damaged({ list([pages[1], pages[0]]) }, { try expectRefused("out of order") })
        try closed.damaged({ list([pages[0], 1]) }, { try expectRefused("a header") })
        let last = try #require(closed.entries(of: closed.freePages * ClosedStore.pageBytes).last) + 8
        try closed.damaged(
            { closed.set(closed.transaction + 3, at: last) }, { try expectRefused("of a later commit") })
        try closed.damaged({ closed.set(1 << 20, at: list) }, { try expectRefused("a false count") })
    }
}
