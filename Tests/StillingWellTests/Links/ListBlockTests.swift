// Lists in write blocks, which keep a list's rows in step with their own changes and take over those of earlier blocks: each
// change is held against arrays, whoever has changed the lists before.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Owner: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var name = ""
    @Listed var numbers: List<Int>
    @Listed var friends: List<Owner>
}

/// Owners by id.
private struct Owners {
    struct Cancelled: Error {}

    private static let ids = 0..<4
    var random: SeededRandom
    var numbers: [Int: [Int]] = [:]
    var friends: [Int: [Int]] = [:]

    mutating func change(_ connection: Connection, _ comment: Comment) throws {
        let id = random.below(Self.ids.count)
        guard let owner = try connection.object(Owner.self, forPrimaryKey: id) else {
            let owner = Owner()
            owner.id = id
            try connection.add(owner)
            (numbers[id], friends[id]) = ([], [])
            return
        }
        switch random.below(16) {
        case 0:
            try connection.delete(owner)
            (numbers[id], friends[id]) = (nil, nil)
            friends = friends.mapValues { $0.filter { $0 != id } }
        case 1: owner.name = "\(random.below(9))"
        case 2...5:
            let known = Self.ids.filter { numbers[$0] != nil }
            let friend = known[random.below(known.count)]
            let object = try #require(try connection.object(Owner.self, forPrimaryKey: friend))
            friends[id] = edit(owner.friends, friends[id] ?? [], object, friend)
        default:
            let number = random.below(1_000)
            numbers[id] = edit(owner.numbers, numbers[id] ?? [], number, number)
        }
        guard !owner.isInvalidated else { return }
        if random.oneIn(2) { #expect(Array(owner.numbers) == numbers[id], comment) }
        if random.oneIn(2) { #expect(owner.friends.map(\.id) == friends[id], comment) }
        if random.oneIn(2) { try checkPlaces(of: owner, connection, comment) }
    }

    /// Where each object is first among an owner's friends.
    private func checkPlaces(of owner: Owner, _ connection: Connection, _ comment: Comment) throws {
        for id in Self.ids {
            guard let other = try connection.object(Owner.self, forPrimaryKey: id) else { continue }
            #expect(try owner.friends.index(of: other) == friends[owner.id]?.firstIndex(of: id), comment)
        }
    }

    /// Makes one change in a list, and returns what its model becomes.
    private mutating func edit<Element, Known>(
        _ list: List<Element>, _ before: [Known], _ element: Element, _ known: Known
    ) -> [Known] {
        var model = before
        let count = model.count
        let (at, other) = (count == 0 ? 0 : random.below(count), count == 0 ? 0 : random.below(count))
        switch random.below(count == 0 ? 2 : 8) {
        case 0:
            list.append(element)
            model.append(known)
        case 1, 2:
            list.insert(element, at: at)
            model.insert(known, at: at)
        case 3:
            list.remove(at: at)
            model.remove(at: at)
        case 4:
            list[at] = element
            model[at] = known
        case 5, 6:
            list.move(from: at, to: other)
            model.insert(model.remove(at: at), at: other)
        default:
            if random.oneIn(6) {
                list.removeAll()
                model = []
            } else {
                list.swapAt(at, other)
                model.swapAt(at, other)
            }
        }
        return model
    }

    /// Takes over what somebody else has done.
    mutating func reload(_ connection: Connection) throws {
        for id in Self.ids {
            let owner = try connection.object(Owner.self, forPrimaryKey: id)
            numbers[id] = owner.map { Array($0.numbers) }
            friends[id] = owner.map { $0.friends.map(\.id) }
        }
    }

    func check(_ connection: Connection, _ comment: Comment) throws {
        for id in Self.ids {
            let owner = try connection.object(Owner.self, forPrimaryKey: id)
            #expect(owner.map { Array($0.numbers) } == numbers[id], comment)
            #expect(owner.map { $0.friends.map(\.id) } == friends[id], comment)
            if let owner { try checkPlaces(of: owner, connection, comment) }
        }
    }
}

@Suite("Lists in write blocks")
struct ListBlockTests {
    @Test("are what the same changes make of arrays, from block to block", arguments: 0..<8)
    func history(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        let test = try TestStore([Owner.self])
        // A handle of its own, which knows nothing of what the other's blocks have left.
        let beside = try Store(.init(path: test.path, models: [Owner.self], durability: .relaxed))
        var owners = Owners(random: SeededRandom(seed: seed))
        for _ in 0..<25 {
            let store = owners.random.oneIn(3) ? beside : test.store
            let before = owners
            do {
                try store.write { connection in
                    for _ in 0..<owners.random.below(12) { try owners.change(connection, comment) }
                    if owners.random.oneIn(5) { throw Owners.Cancelled() }
                }
            } catch is Owners.Cancelled {
                (owners.numbers, owners.friends) = (before.numbers, before.friends)
            }
            try test.store.write { try owners.check($0, comment) }
            try beside.read { try owners.check($0, comment) }
        }
    }

    @Test("tell the first place of an object among those shown, before and after deliveries", arguments: 0..<4)
    func places(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        let test = try TestStore([Owner.self])
        let beside = try Store(.init(path: test.path, models: [Owner.self], durability: .relaxed))
        var owners = Owners(random: SeededRandom(seed: seed))
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var calls = 0
        let token = try connection.objects(Owner.self).observe { _ in calls += 1 }
        defer { token.invalidate() }
        func check() throws {
            let all = Array(try connection.objects(Owner.self))
            for owner in all where !owner.isInvalidated {
                for other in all where !other.isInvalidated {
                    let expected = owner.friends.firstIndex { !$0.isInvalidated && $0.id == other.id }
                    #expect(try owner.friends.index(of: other) == expected, comment)
                }
            }
        }
        for turn in 0..<25 {
            if owners.random.oneIn(2) {
                try beside.write { for _ in 0..<owners.random.below(6) { try owners.change($0, comment) } }
            } else {
                // Own writes are shown before they are delivered.
                try connection.write {
                    for owner in Array(try connection.objects(Owner.self)) {
                        guard !owner.isInvalidated, owner.friends.count > 1 else { continue }
                        owner.friends.move(from: 0, to: owner.friends.count - 1)
                        try check()
                    }
                }
            }
            try check()
            try beside.write { connection in
                let first = try connection.objects(Owner.self).first ?? Owner()
                first.name = "turn \(turn)"
                if first.binding == nil { try connection.add(first) }
            }
            try check()
            try scheduler.turn()
            try check()
            try beside.read { try owners.reload($0) }
        }
        #expect(calls > 0)
    }
}
