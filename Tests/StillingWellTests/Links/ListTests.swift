// Lists of values and of objects: the collection they are, what their observers are told, and filters over them.
import Foundation
import StillingWellSeededRandom
import StillingWellSync
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Lists")
struct ListTests {
    private func store() throws -> TestStore { try TestStore([Human.self, Dog.self]) }

    private func human(_ connection: Connection, _ id: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    @Test("a loop does not come to what it has taken off")
    func takingOffInALoop() throws {
        let test = try store()
        defer { withExtendedLifetime(test) {} }
        try test.store.write { connection in
            let owner = Human(0)
            try connection.add(owner)
            for id in 1...4 { try connection.add(Human(id)) }
            owner.friends.append(contentsOf: try [1, 2, 1, 3, 4].map { try human(connection, $0) })
            var met: [Int] = []
            for friend in owner.friends {
                met.append(friend.id)
                if friend.id < 3 { try connection.delete(friend) } else { owner.friends.removeLast() }
            }
            // The first is met once, though it was in the list twice; the last was taken off before its turn.
            #expect(met == [1, 2, 3] && owner.friends.map(\.id) == [3])
        }
    }

    /// What any list must do, stored or not.
    private func exercise(_ list: List<String>) {
        list.append("b")
        list.append(contentsOf: ["d", "b"])
        list.insert("a", at: 0)
        list.insert("c", at: 2)
        #expect(Array(list) == ["a", "b", "c", "d", "b"])
        list[3] = "D"
        list.swapAt(0, 4)
        #expect(Array(list) == ["b", "b", "c", "D", "a"])
        list.move(from: 0, to: 3)
        #expect(Array(list) == ["b", "c", "D", "b", "a"])
        list.move(from: 4, to: 0)
        list.move(from: 1, to: 2)
        #expect(Array(list) == ["a", "c", "b", "D", "b"])
        #expect(list.index(of: "b") == 2 && list.index(of: "x") == nil)
        list.remove(at: 2)
        list.removeFirst()
        list.removeLast()
        #expect(Array(list) == ["c", "D"] && list.count == 2 && list[1] == "D")
        list.removeAll()
        #expect(list.isEmpty)
        list.append("z")
    }

    @Test("are arrays that belong to their object, stored or not")
    func arrays() throws {
        let test = try store()
        let plain = Human(1)
        exercise(plain.tags)
        try test.store.write { connection in
            plain.tags = ["x", "y"]
            plain.scores.append(contentsOf: [1, nil, 3])
            try connection.add(plain)
            #expect(Array(plain.tags) == ["x", "y"])
            #expect(Array(plain.scores) == [1, nil, 3])
            plain.tags.removeAll()
            exercise(plain.tags)
        }
        try test.store.read { connection in
            let stored = try human(connection, 1)
            #expect(Array(stored.tags) == ["z"])
            #expect(Array(stored.scores) == [1, nil, 3])
        }
        try test.store.write { try human($0, 1).tags = ["p", "q", "p"] }
        try test.store.read { try #expect(Array(human($0, 1).tags) == ["p", "q", "p"]) }
    }

    @Test("hold objects, more than once if need be, and lose those that are deleted")
    func objects() throws {
        let test = try store()
        try test.store.write { connection in
            let (ada, bob, eve) = (Human(1), Human(2), Human(3))
            ada.friends.append(contentsOf: [bob, eve, bob, ada])
            try connection.add(ada)
            bob.friends.append(ada)
            #expect(ada.friends.map(\.id) == [2, 3, 2, 1])
            #expect(try ada.friends.index(of: eve) == 1)
        }
        try test.store.write { try $0.delete(human($0, 2)) }
        try test.store.read { connection in
            try #expect(human(connection, 1).friends.map(\.id) == [3, 1])
            // With an owner go the elements of its lists.
            let elements = connection.core.storage.tablesByID.values.first { $0.schema.name == "Human.friends" }!
            try #expect(RowQuery(.all, elements).count(in: connection.core.storage.openSnapshot()) == 2)
        }
        try test.store.write { try $0.delete(human($0, 1)) }
        try test.store.read { try #expect(human($0, 3).linkingObjects(\Human.friends).isEmpty) }
    }

    @Test("tell their observers how they changed, and observers of their owner that they did")
    func observed() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1)
            ada.tags = ["a", "b", "c", "d"]
            try connection.add(ada)
        }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let ada = try human(connection, 1)
        var shown: [String]?
        var changes: [ChangeSet] = []
        var names: [String] = []
        let list = ada.tags
        let token = try list.observe { change in
            switch change {
            case .initial(let tags): shown = Array(tags)
            case .update(let tags, let set):
                shown = Array(tags)
                changes.append(set)
            case .error: break
            }
        }
        let owner = try ada.observe { change in
            if case .change(_, let properties) = change { names += properties.map(\.name) }
        }
        try scheduler.turn { shown == ["a", "b", "c", "d"] }
        try test.store.write { connection in
            let tags = try human(connection, 1).tags
            tags.remove(at: 1)
            tags[1] = "C"
            tags.move(from: 2, to: 0)
            tags.append("e")
        }
        try scheduler.turn { shown == ["d", "a", "C", "e"] }
        let change = try #require(changes.first)
        #expect(changes.count == 1)
        #expect(change.moves == [Move(from: 3, to: 0)])
        #expect(change.deletions == [1, 3] && change.insertions == [0, 3])
        #expect(change.modifications == [2] && change.modificationsNew == [2])
        #expect(names == ["tags"])
        try test.store.write { try $0.delete(human($0, 1)) }
        try scheduler.turn { shown == [] }
        token.invalidate()
        owner.invalidate()
    }

    @Test("an index names the element that was shown, whatever others did meanwhile")
    func stableIndices() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1)
            ada.tags = ["a", "b", "c", "d"]
            try connection.add(ada)
        }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let tags = try human(connection, 1).tags
        #expect(Array(tags) == ["a", "b", "c", "d"])
        let other = TracedThread("other") {
            try? test.store.write { connection in
                let tags = try self.human(connection, 1).tags
                tags.remove(at: 1)
                tags.insert("x", at: 0)
            }
        }
        other.join()
        #expect(Array(tags) == ["a", "b", "c", "d"])
        try connection.write {
            #expect(tags[1] == "b")
            tags.remove(at: 1)
            #expect(Array(tags) == ["a", "c", "d"])
            tags.remove(at: 2)
            tags.insert("y", at: 1)
            #expect(Array(tags) == ["a", "y", "c"])
        }
        try test.store.read { try #expect(Array(human($0, 1).tags) == ["x", "a", "y", "c"]) }
        let another = TracedThread("another") {
            try? test.store.write { connection in try self.human(connection, 1).tags.remove(at: 1) }
        }
        another.join()
        #expect(throws: StoreError.invalidatedObject(table: "Human.tags")) { try connection.write { tags[0] = "A" } }
    }

    @Test("can be asked about in filters")
    func filters() throws {
        let test = try store()
        try test.store.write { connection in
            for id in 1...4 {
                let human = Human(id, "h\(id)", age: id * 10)
                try connection.add(human)
                for friend in 1..<id { human.friends.append(try self.human(connection, friend)) }
                human.tags = id % 2 == 0 ? ["even", "x"] : ["odd"]
            }
        }
        try test.store.read { connection in
            let humans = try connection.objects(Human.self)
            #expect(humans.where(.any(\.friends, \.age == 20)).map(\.id) == [3, 4])
            #expect(humans.where(.all(\.friends, \.age < 20)).map(\.id) == [1, 2])
            #expect(humans.where(.none(\.friends, \.age == 20)).map(\.id) == [1, 2])
            #expect(humans.where((\Human.tags).contains("even")).map(\.id) == [2, 4])
            #expect(humans.where(.any(\.tags, .greater, "f")).map(\.id) == [1, 2, 3, 4])
            #expect(humans.where(\.friends.count > 1).map(\.id) == [3, 4])
            #expect(humans.where(\.tags.count == 1).map(\.id) == [1, 3])
            #expect(humans.where((\Human.friends).sum(\.age) == 30).map(\.id) == [3])
            #expect(humans.where((\Human.friends).max(\.age) >= 20).map(\.id) == [3, 4])
            #expect(humans.where((\Human.friends).average(\.age) == 15).map(\.id) == [3])
            #expect(humans.where((\Human.friends).min(\.age) == Int?.none).map(\.id) == [1])
            let two = try human(connection, 2)
            #expect(humans.where((\Human.friends).contains(two)).map(\.id) == [3, 4])
            let isFriendOfFirst: Filter<Human> = .any(\.friends, \.id == 1)
            #expect(humans.where(.any(\.friends, isFriendOfFirst)).map(\.id) == [3, 4])
        }
    }

    @Test("positions leave room between any two, whichever were taken before", arguments: 0..<8)
    func positions(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        var positions: [[UInt8]] = []
        for change in 1...UInt64(400) {
            let index =
                switch round % 4 {
                case 0: random.below(positions.count + 1)
                case 1: min(1, positions.count)
                case 2: max(0, positions.count - 1)
                default: positions.count / 2
                }
            let before = index > 0 ? positions[index - 1] : nil
            let after = index < positions.count ? positions[index] : nil
            let position =
                switch (before, after) {
                case (_, nil): ListPosition.last(change)
                case (nil, _): ListPosition.first(change)
                case (let before?, let after?): ListPosition.between(before, after, change)
                }
            positions.insert(position, at: index)
            let isOrdered = zip(positions, positions.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
            #expect(isOrdered, "TIDEGAUGE_SEED=\(seed)")
        }
        #expect(positions.allSatisfy { $0.count < 80 })
    }
}
