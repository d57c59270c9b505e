// Tests of the deletion of collections and classes.
import Testing

@testable import StillingWell

@Suite("Deleting many objects")
struct DeletingTests {
    private func humans(_ count: Int) throws -> TestStore {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            for id in 0..<count { try connection.add(Human(id, age: id)) }
        }
        return test
    }

    @Test("the objects of a list, one of them twice in it")
    func list() throws {
        let test = try humans(3)
        try test.store.write { connection in
            let all = Array(try connection.objects(Human.self))
            all[0].friends.append(contentsOf: [all[1], all[2], all[1]])
            try connection.delete(all[0].friends)
            #expect(all[0].friends.isEmpty && all[1].isInvalidated && all[2].isInvalidated)
        }
        #expect(try test.store.read { try $0.objects(Human.self).map(\.id) } == [0])
    }

    @Test("plain objects among others are left alone")
    func plain() throws {
        let test = try humans(2)
        try test.store.write { connection in
            let stored = try connection.objects(Human.self)[0]
            try connection.delete([Human(9), stored])
        }
        #expect(try test.store.read { try $0.objects(Human.self).map(\.id) } == [1])
    }

    @Test("nothing is deleted where one object is of another store")
    func foreign() throws {
        let (a, b) = (try humans(2), try humans(2))
        try b.store.read { theirs in
            let foreign = try theirs.objects(Human.self)[0]
            try a.store.write { connection in
                let ours = try connection.objects(Human.self)[0]
                #expect(throws: StoreError.otherStore(path: b.path, used: a.path)) {
                    try connection.delete([ours, foreign])
                }
                #expect(try connection.objects(Human.self).count == 2)
            }
        }
    }

    @Test("deleting all objects of a class removes the links to them")
    func ofClass() throws {
        let test = try humans(3)
        try test.store.write { try $0.add(Dog(1, owner: $0.objects(Human.self)[0])) }
        try test.store.write { connection in
            try connection.deleteAll(Human.self)
            try connection.deleteAll(Human.self)
            #expect(try connection.objects(Human.self).isEmpty)
            #expect(try connection.objects(Dog.self)[0].owner == nil)
        }
    }

    @Test("everything, including elements of lists, and observers are told")
    func everything() throws {
        let test = try humans(5)
        try test.store.write { connection in
            let human = try connection.objects(Human.self)[0]
            human.tags.append(contentsOf: ["a", "b"])
            human.friends.append(human)
            try connection.add(Dog(1, owner: human))
        }
        let scheduler = ManualScheduler()
        let live = try test.store.connect(on: .scheduler(scheduler))
        var told: [ChangeSet?] = []
        let token = try live.objects(Human.self).observe { change in
            if case .update(_, let changes) = change { told.append(changes) } else { told.append(nil) }
        }
        defer { token.invalidate() }
        try scheduler.turn { told.count == 1 }
        try test.store.write { connection in
            try connection.add(Human(77))
            try connection.deleteAll()
        }
        try scheduler.turn { told.count == 2 }
        #expect(told[1]?.deletions == Array(0..<5) && told[1]?.insertions == [])
        try test.store.write { connection in
            #expect(try connection.objects(Human.self).isEmpty)
            #expect(try connection.objects(Dog.self).isEmpty)
            try connection.add(Human(0))
            #expect(try connection.objects(Human.self)[0].tags.isEmpty)
        }
    }

    @Test("a cancelled write restores all deleted objects, links to them and their lists")
    func cancelled() throws {
        let test = try humans(4)
        try test.store.write { connection in
            let all = Array(try connection.objects(Human.self))
            all[3].boss = all[0]
            all[3].friends.append(contentsOf: [all[1], all[0], all[1]])
        }
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let last = try #require(try connection.object(Human.self, forPrimaryKey: 3))
        try connection.beginWrite()
        try connection.deleteAll()
        #expect(last.isInvalidated)
        try connection.cancelWrite()
        #expect(!last.isInvalidated && last.boss?.id == 0 && last.friends.map(\.id) == [1, 0, 1])
        #expect(try connection.objects(Human.self).count == 4)
    }

    @Test("a key that was deleted may be given again in the same write, and is another object")
    func again() throws {
        let test = try humans(2)
        try test.store.write { connection in
            let old = try #require(try connection.object(Human.self, forPrimaryKey: 1))
            try connection.delete([old])
            let new = Human(1, "new")
            try connection.add(new)
            #expect(old.isInvalidated && old != new)
            #expect(try connection.object(Human.self, forPrimaryKey: 1)?.name == "new")
        }
        #expect(try test.store.read { try $0.objects(Human.self).map(\.name) } == ["", "new"])
    }

    @Test("frozen objects are refused, and other objects of the same call are not deleted")
    func frozen() throws {
        let test = try humans(2)
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let frozen = try connection.objects(Human.self)[0].freeze().object
        try connection.write {
            let second = try connection.objects(Human.self)[1]
            #expect(throws: StoreError.frozen) { try connection.delete([second, frozen]) }
            #expect(try connection.objects(Human.self).count == 2)
        }
    }

    @Test("outside of a write it is refused")
    func outside() throws {
        let test = try humans(1)
        try test.store.read { connection in
            let humans = try connection.objects(Human.self)
            #expect(throws: StoreError.notInWrite) { try connection.delete(humans) }
            #expect(throws: StoreError.notInWrite) { try connection.deleteAll() }
            #expect(throws: StoreError.notInWrite) { try connection.deleteAll(Human.self) }
        }
    }
}
