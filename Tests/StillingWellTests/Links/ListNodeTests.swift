// Tests of inner nodes of a list's order that merge with their siblings. The list is long enough for two inner nodes,
// and its changes are chosen by the number of entries in a node.
import Testing

@testable import StillingWell

private final class Tray: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Listed var numbers: List<Int>
}

@Suite("Nodes of the orders of lists")
struct ListNodeTests {
    /// Appending fills leaves with this many elements, and inner nodes with this many leaves.
    private static let most = 64

    private func height(_ store: Store) throws -> Int? {
        try store.read { connection in
            let binding = try #require(try connection.object(Tray.self, forPrimaryKey: 0)?.binding)
            let order = try #require(binding.table.links?.lists.first?.order)
            return try #require(connection.delivered).reading(or: nil) { (transaction) throws(EngineFailure) in
                try order.root(binding.id.rawValue, transaction)?.level
            }
        }
    }

    @Test("after two nodes are joined, elements inserted before the remaining ones of the second are found")
    func joined() throws {
        let test = try TestStore([Tray.self])
        let second = Self.most * Self.most
        var model = Array(0..<second + 3 * Self.most)
        func change(_ body: (List<Int>, inout [Int]) throws -> Void) throws {
            try test.store.write { connection in
                try body(try #require(try connection.object(Tray.self, forPrimaryKey: 0)).numbers, &model)
            }
        }
        try test.store.write { try $0.add(Tray()) }
        try change { list, model in list.append(contentsOf: model) }
        #expect(try height(test.store) == 2)
        // Deletes the first leaf below the second inner node, and inserts an element at its place.
        try change { list, model in
            for _ in 0..<Self.most { list.remove(at: second) }
            model.removeSubrange(second..<second + Self.most)
            list.insert(-1, at: second)
            model.insert(-1, at: second)
        }
        #expect(try height(test.store) == 2)
        // Deletes until the second inner node fits into the first. The next change below the second merges them.
        try change { list, model in
            for _ in 0..<second / 2 { list.remove(at: 0) }
            model.removeSubrange(0..<second / 2)
            list.removeLast()
            model.removeLast()
        }
        #expect(try height(test.store) == 1)
        try change { list, model in
            let place = try #require(model.firstIndex(of: -1))
            #expect(list[place] == -1)
            list.remove(at: place)
            model.remove(at: place)
        }
        try test.store.read { connection in
            let tray = try #require(try connection.object(Tray.self, forPrimaryKey: 0))
            #expect(Array(tray.numbers) == model)
        }
        #expect(try test.store.verify().isWhole)
    }
}
