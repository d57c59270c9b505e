// Tests of conditions given as blocks and as Boolean properties.
import Foundation
import Testing

@testable import StillingWell

private final class Chore: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
    @Stored var done = false
    @Stored var score = 0
    @Stored var group: Int?
    @Listed var tags: List<String>
    @Listed var parts: List<Chore>
    @Linked var parent: Chore?
}

@Suite("Conditions as blocks and as Boolean properties")
struct ConditionBlockTests {
    private let test: TestStore

    init() throws {
        test = try TestStore([Chore.self])
        try test.store.write { connection in
            let root = Chore()
            (root.id, root.title) = (100, "Root")
            try connection.add(root)
            for id in 0..<12 {
                let chore = Chore()
                (chore.id, chore.title) = (id, id % 3 == 0 ? "tide \(id)" : "fog")
                (chore.done, chore.score) = (id % 2 == 0, id)
                chore.group = id % 4 == 0 ? nil : id % 4
                if id % 5 == 0 { chore.parent = root }
                if id % 6 == 0 { chore.tags = ["x"] }
                try connection.add(chore)
                root.parts.append(chore)
            }
        }
    }

    private func ids(_ refine: (Results<Chore>) throws -> Results<Chore>) throws -> [Int] {
        try test.store.read { try refine($0.objects(Chore.self).where(\.id < 100)).map(\.id) }
    }

    @Test("a block's condition passes what the same filter of operators passes")
    func blocks() throws {
        let all = Array(0..<12)
        #expect(try ids { $0.where { $0.title.contains("tide") } } == all.filter { $0 % 3 == 0 })
        #expect(try ids { $0.where { $0.title.hasPrefix("TI", caseInsensitive: true) && !$0.done } } == [3, 9])
        #expect(try ids { $0.where { $0.done && $0.score > 5 || $0.score == 1 } } == [1, 6, 8, 10])
        #expect(try ids { $0.where { $0.done } } == all.filter { $0 % 2 == 0 })
        #expect(try ids { $0.where { $0.done == false } } == all.filter { $0 % 2 == 1 })
        #expect(try ids { $0.where { $0.score.in([1, 4, 40]) || $0.group.in([nil]) } } == [0, 1, 4, 8])
        #expect(try ids { $0.where { $0.score.isBetween(2...4) } } == [2, 3, 4])
        #expect(try ids { $0.where { $0.tags.contains("x") } } == [0, 6])
        #expect(try ids { $0.where { $0[\.parent?.title].hasPrefix("Ro") } } == [0, 5, 10])
        #expect(try ids { $0.where { $0.score > 0 && \.parent?.title == "Root" } } == [5, 10])
        #expect(try ids { $0.where { $0.parent != nil && $0.group == nil } } == [0])
    }

    @Test("a Boolean property is a condition, and `!` of it too")
    func properties() throws {
        #expect(try ids { $0.where(\.done) } == [0, 2, 4, 6, 8, 10])
        #expect(try ids { $0.where(!\.done) } == [1, 3, 5, 7, 9, 11])
        #expect(try ids { $0.where(!\.done && \.score > 6) } == [7, 9, 11])
    }

    @Test("the objects of a list take blocks as well")
    func lists() throws {
        let found = try test.store.read { connection in
            let root = try #require(try connection.object(Chore.self, forPrimaryKey: 100))
            return try root.parts.where { !$0.done && $0.title.contains("tide") }.map(\.id)
        }
        #expect(found == [3, 9])
    }
}
