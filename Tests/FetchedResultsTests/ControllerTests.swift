import FetchedResults
import Foundation
import StillingWell
import Testing

@Suite("The fetched-results controller") struct ControllerTests {
    private static let byQuay = FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay)
    private static let plain = FetchRequest(Boat.self) {
        $0.where(\.length >= 2).sorted(by: \.length, ascending: false)
    }

    @Test("sections have names, titles, sizes and objects; objects have paths")
    func sections() throws {
        let boats = try BoatStore()
        try boats.add(0..<7)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(try desk.fetch())
        let controller = desk.controller
        #expect(controller.sections.map(\.name) == ["0", "1", "2"])
        #expect(controller.sections.map(\.objectCount) == [3, 2, 2])
        #expect(controller.sectionIndexTitles == ["0", "1", "2"])
        #expect(controller.section(forIndexTitle: "2") == 2 && controller.section(forIndexTitle: "9") == nil)
        #expect(controller.fetchedObjects.map(\.number) == [0, 3, 6, 1, 4, 2, 5])
        let path = RowPath(section: 1, row: 1)
        #expect(controller.object(at: path).number == 4)
        #expect(try controller.path(of: controller.object(at: path)) == path)
        #expect(try controller.path(of: Boat(1)) == nil)
        let other = try BoatStore()
        try other.add(0..<7)
        #expect(throws: StoreError.self) { try other.store.read { try controller.path(of: boat(4, $0)) } }
    }

    @Test("without section keys there is one section, empty or not")
    func oneSection() throws {
        let boats = try BoatStore()
        let desk = try Desk(boats.store, Self.plain)
        #expect(try desk.fetch())
        #expect(desk.controller.sections.map(\.name) == [""] && desk.controller.sections[0].objects.isEmpty)
        try boats.add(0..<4)
        #expect(desk.told(1))
        #expect(desk.table.log == ["insert →0.0", "insert →0.1"])
        try boats.store.write { connection in for number in 2..<4 { try connection.delete(boat(number, connection)) } }
        #expect(desk.told(1))
        #expect(desk.controller.sections.map(\.objectCount) == [0] && desk.table.sections == [[]])
        #expect(desk.table.problems.isEmpty)
    }

    @Test("limited results are one section: a row that enters the limit is inserted, one that leaves it is deleted")
    func limited() throws {
        let boats = try BoatStore()
        try boats.add(0..<4)
        let request = FetchRequest(Boat.self) { $0.sorted(by: \.length).limited(to: 2) }
        let desk = try Desk(boats.store, request)
        #expect(try desk.fetch())
        #expect(desk.controller.fetchedObjects.map(\.number) == [0, 1])
        #expect(try desk.controller.path(of: boat(2, desk.connection)) == nil)
        try boats.store.write { connection in
            try connection.delete(boat(0, connection))
            try connection.add(Boat(9, length: 9))
        }
        #expect(desk.told(1))
        #expect(desk.table.log == ["delete 0.0→", "insert →0.1"])
        #expect(try desk.isRight(request, boats.store))
        #expect(desk.controller.fetchedObjects.map(\.number) == [1, 2])
    }

    @Test("different section keys have different names: nil and the empty string, data, and dates within a second")
    func names() throws {
        let boats = try BoatStore()
        try boats.store.write { connection in
            for (number, berth) in [nil, "", "a", nil].enumerated() {
                let boat = Boat(number)
                boat.berth = berth
                boat.hull = Data([UInt8(number)])
                boat.built = Date(timeIntervalSinceReferenceDate: Double(number) / 4)
                try connection.add(boat)
            }
        }
        let berths = try Desk(boats.store, FetchRequest(Boat.self).sectioned(by: \.berth))
        #expect(try berths.fetch())
        #expect(berths.controller.sections.map(\.objectCount) == [2, 1, 1])
        #expect(Set(berths.controller.sections.map(\.name)).count == 3)
        #expect(berths.controller.sectionIndexTitles == ["", "", "A"])
        for request in [
            FetchRequest(Boat.self).sectioned(by: \.hull), FetchRequest(Boat.self).sectioned(by: \.built),
        ] {
            let desk = try Desk(boats.store, request)
            #expect(try desk.fetch())
            #expect(Set(desk.controller.sections.map(\.name)).count == 4)
        }
    }

    @Test("the delegate is told in the order of NSFetchedResultsController, old paths and new ones")
    func order() throws {
        let boats = try BoatStore()
        try boats.add(0..<9)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(try desk.fetch())
        #expect(desk.table.log.isEmpty)
        try boats.store.write { connection in
            try connection.delete(boat(0, connection))
            try connection.delete(boat(3, connection))
            try connection.delete(boat(6, connection))
            try boat(1, connection).length = 100
            try boat(4, connection).name = "renamed"
            try boat(2, connection).quay = 7
            try connection.add(Boat(20, length: 3, quay: 2))
            try connection.add(Boat(21, length: 1, quay: nil))
        }
        #expect(desk.told(1))
        #expect(
            desk.table.log == [
                "section delete 0", "section insert 0", "section insert 3", "delete 2.0→", "delete 0.2→", "delete 0.1→",
                "delete 0.0→", "insert →0.0", "insert →2.0", "insert →3.0", "move 1.0→1.2", "update 1.1→1.0",
            ])
        #expect(try desk.isRight(Self.byQuay, boats.store))
        #expect(desk.controller.sections.map(\.name) == [nil, "1", "2", "7"])
    }

    @Test("inserted and deleted sections are reported with their names and objects")
    func sectionInfo() throws {
        let boats = try BoatStore()
        try boats.add(0..<9)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(try desk.fetch())
        try boats.store.write { connection in
            for number in [0, 3, 6] { try connection.delete(boat(number, connection)) }
            for number in [21, 20] { try connection.add(Boat(number, length: number, quay: nil)) }
            try connection.add(Boat(22, length: 22, quay: 7))
        }
        #expect(desk.told(1))
        #expect(desk.table.sectionLog == ["0: 3, []", "nil: 2, [20, 21]", "7: 1, [22]"])
        #expect(desk.table.problems.isEmpty)
    }

    @Test("the first delivery tells the changes since the first read")
    func readEarly() throws {
        let boats = try BoatStore()
        try boats.add(0..<5)
        let desk = try Desk(boats.store, Self.byQuay)
        try desk.controller.performFetch()
        desk.table.reload(desk.controller)
        // A commit between the fetch and the first delivery.
        try boats.store.write { connection in
            try connection.delete(boat(1, connection))
            try connection.add(Boat(9, length: 9, quay: 5))
        }
        try desk.scheduler.turn { desk.table.sections.count == 4 }
        #expect(try desk.isRight(Self.byQuay, boats.store))
    }

    @Test("after an early read the first delivery tells the rows that were written, and no other")
    func readLongBefore() throws {
        let boats = try BoatStore()
        try boats.add(0..<5)
        let upkeep = try HeldUpkeep(boats.store)
        try upkeep.close(boats.store)
        let desk = try Desk(boats.store, Self.plain, keyPaths: [\.name])
        try desk.controller.performFetch()
        desk.table.reload(desk.controller)
        try boats.store.write { connection in
            try boat(4, connection).name = "a"
            try boat(2, connection).hull = Data([1])
            try connection.delete(boat(3, connection))
        }
        // The query can be evaluated only now, at a version that no connection has read.
        upkeep.open()
        #expect(desk.told(1))
        #expect(desk.table.log == ["delete 0.1→", "update 0.0→0.0"])
        #expect(try desk.isRight(Self.plain, boats.store))
    }

    @Test("after a refresh the delegate was told of all shown rows, whether or not the first delivery had come")
    func refreshedEarly() throws {
        let boats = try BoatStore()
        try boats.add(0..<5)
        for round in 0..<20 {
            let desk = try Desk(boats.store, Self.byQuay)
            try desk.controller.performFetch()
            desk.table.reload(desk.controller)
            try boats.add(10 + round..<11 + round)
            #expect(try desk.controller.refresh())
            #expect(desk.table.log.count { $0.hasPrefix("insert") } == 1)
            #expect(try desk.isRight(Self.byQuay, boats.store))
        }
    }

    @Test("a delegate that has not read is told of no row at first; key paths decide what is an update")
    func unread() throws {
        let boats = try BoatStore()
        try boats.add(0..<5)
        let desk = try Desk(boats.store, Self.byQuay, keyPaths: [\.name])
        #expect(try desk.fetch(reading: false))
        #expect(desk.table.log.isEmpty)
        desk.table.reload(desk.controller)
        try boats.store.write { connection in
            try boat(1, connection).name = "a"
            try boat(2, connection).length = 2
        }
        #expect(desk.told(1))
        #expect(desk.table.log == ["update 1.0→1.0"])
    }

    @Test("a new request takes effect at the next fetch; changes of the old one are not reported after that")
    func anotherRequest() throws {
        let boats = try BoatStore()
        try boats.add(0..<6)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(try desk.fetch())
        desk.controller.fetchRequest = Self.plain
        #expect(desk.controller.sections.count == 3)
        #expect(try desk.fetch())
        #expect(desk.controller.fetchedObjects.map(\.number) == [5, 4, 3, 2])
        try boats.store.write { try boat(5, $0).length = 1 }
        #expect(desk.told(1))
        #expect(desk.table.log == ["delete 0.0→"])
        #expect(try desk.isRight(Self.plain, boats.store))
    }

    @Test("a delegate may write, fetch again and end the controller")
    func reentrancy() throws {
        let boats = try BoatStore()
        try boats.add(0..<3)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(try desk.fetch())
        let told = desk.table.whenChanged
        var round = 0
        desk.table.whenChanged = {
            told?()
            round += 1
            do {
                switch round {
                case 1: try desk.connection.write { try boat(0, desk.connection).quay = 9 }
                case 2: try desk.controller.performFetch()
                default: desk.controller.invalidate()
                }
            } catch { Issue.record("\(error)") }
        }
        try boats.store.write { try $0.add(Boat(10, length: 1, quay: 1)) }
        try desk.scheduler.turn { round == 3 }
        try boats.store.write { try $0.add(Boat(11, length: 1, quay: 1)) }
        _ = try desk.connection.refresh()
        #expect(round == 3 && desk.table.problems.isEmpty)
        #expect(desk.controller.sections.map(\.name) == ["1", "2", "9"])
    }

    @Test("a write that excludes the controller's token is not reported to the delegate")
    func ownMove() throws {
        let boats = try BoatStore()
        try boats.add(0..<4)
        let desk = try Desk(boats.store, Self.plain)
        #expect(try desk.fetch())
        let token = try #require(desk.controller.notificationToken)
        try desk.connection.write(withoutNotifying: [token]) { try boat(2, desk.connection).length = 50 }
        desk.table.reload(desk.controller)
        try boats.store.write { try boat(3, $0).name = "told" }
        #expect(desk.told(1))
        #expect(desk.table.log == ["update 0.1→0.1"])
        #expect(try desk.isRight(Self.plain, boats.store))
    }

    @Test("the changes are also available as an asynchronous sequence", .timeLimit(.minutes(5)))
    func sequence() async throws {
        let boats = try BoatStore()
        try boats.add(0..<4)
        let desk = try Desk(boats.store, Self.byQuay)
        #expect(throws: FetchedResultsError.notFetched) { try desk.controller.changes() }
        #expect(try desk.fetch())
        let changes = try desk.controller.changes()
        try await boats.store.write { try $0.add(Boat(10, length: 1, quay: 8)) }
        #expect(desk.told(1))
        var iterator = changes.makeAsyncIterator()
        var last = try await iterator.next()
        if last?.changes == nil, last?.sectionCount == 3 { last = try await iterator.next() }
        #expect(last?.sectionCount == 4 && last?.count(ofSection: 3) == 1)
    }
}
