import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Lists")
struct ListTests {
    private func store() throws -> TestStore { try TestStore([Human.self, Dog.self]) }

    private func human(_ connection: Connection, _ id: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    @Test("a loop does not visit elements that it has removed")
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
            // The first object is visited once, though it was in the list twice. The last was removed before.
            #expect(met == [1, 2, 3] && owner.friends.map(\.id) == [3])
        }
    }

    /// Checks operations of a list, stored or not.
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

    @Test("aggregates ignore nil and NaN, and compare integers exactly, in any order", arguments: [false, true])
    func aggregates(_ isReversed: Bool) {
        func result(_ aggregate: Aggregate, _ values: [ColumnValue]) -> ColumnValue {
            var value = AggregateValue(aggregate)
            for next in isReversed ? values.reversed() : values { value.add(next) }
            return value.result
        }
        let doubles: [ColumnValue] = [.double(7), .double(.nan), .null, .double(5), .double(-.nan)]
        #expect(result(.max, doubles) == .double(7) && result(.min, doubles) == .double(5))
        #expect(result(.average, doubles) == .double(6) && result(.max, [.double(.nan)]) == .null)
        let large = 1 << 53
        #expect(result(.max, [.int(large), .int(large + 1)]) == .int(large + 1))
        #expect(result(.min, [.int(-large), .int(-large - 1)]) == .int(-large - 1))
        #expect(result(.max, [.int(.min), .int(.max), .int(.max - 1)]) == .int(.max))
    }

    @Test("a count over a nil link is nil, and a count can be one of several")
    func counts() throws {
        let test = try store()
        try test.store.write { connection in
            for id in 1...4 {
                let human = Human(id, age: id * 10)
                try connection.add(human)
                for friend in 1..<id { human.friends.append(try self.human(connection, friend)) }
            }
            for (id, boss) in [2: 3, 3: 1, 4: 3] { try human(connection, id).boss = try human(connection, boss) }
        }
        try test.store.read { connection in
            let humans = try connection.objects(Human.self)
            func ids(_ filter: Filter<Human>) -> [Int] { humans.where(filter).sorted(by: \.id).map(\.id) }
            #expect(ids((\Human.friends.count).in([1, 3])) == [2, 4])
            #expect(ids((\Human.friends.count).in([])) == [])
            #expect(ids((\Human.boss?.friends.count).in([0, nil])) == [1, 3])
            #expect(ids(\.boss?.friends.count == Int?.none) == [1])
            #expect(ids(\.boss?.friends.count != Int?.none) == [2, 3, 4])
            #expect(ids(\.boss?.friends.count == 2) == [2, 4])
            #expect(ids(\.boss?.friends.count != 2) == [1, 3])
            #expect(ids((\Human.boss!.friends).min(\.age) == Int?.none) == [1, 3])
            for text in ["boss.friends.@count != 2", "boss.friends.@min.age == NULL"] {
                #expect(try humans.refined(by: text, []).sorted(by: \.id).map(\.id) == [1, 3], "\(text)")
            }
        }
    }

    @Test("a count, which is not stored, stops the program where a stored value is needed")
    func storedValues() async {
        let refused = "is the count of 'friends', which is not stored"
        func expect(_ result: ExitTest.Result?, _ text: String) {
            let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(output.contains(text), "\(output)")
        }
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let test = try TestStore([Human.self, Dog.self])
                try test.read { _ = try $0.objects(Human.self).sum(\.friends.count) }
            }, refused)
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let test = try TestStore([Human.self, Dog.self])
                try test.read { _ = try $0.objects(Human.self).distinct(by: [\.friends.count]).count }
            }, refused)
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let test = try TestStore([Human.self, Dog.self])
                try test.read { _ = try $0.objects(Human.self).distinct(by: [\.friends]).count }
            }, "distinct(by:) compares stored values, and a list is none")
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
