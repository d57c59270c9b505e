// Tests of the indices of objects in lists, in write blocks and between deliveries. Each is compared with an array.
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Owner: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var name = ""
    @Listed var friends: List<Owner>
}

/// Friends of each owner, by id.
private struct Owners {
    private static let ids = 0..<4
    var random: SeededRandom
    var friends: [Int: [Int]] = [:]

    mutating func change(_ connection: Connection, _ comment: Comment) throws {
        let id = random.below(Self.ids.count)
        guard let owner = try connection.object(Owner.self, forPrimaryKey: id) else {
            let owner = Owner()
            owner.id = id
            try connection.add(owner)
            friends[id] = []
            return
        }
        switch random.below(6) {
        case 0:
            try connection.delete(owner)
            friends[id] = nil
            friends = friends.mapValues { $0.filter { $0 != id } }
        case 1: owner.name = "\(random.below(9))"
        default:
            let known = Self.ids.filter { friends[$0] != nil }
            let friend = known[random.below(known.count)]
            let object = try #require(try connection.object(Owner.self, forPrimaryKey: friend))
            friends[id] = edit(owner.friends, friends[id] ?? [], object, friend)
        }
        guard !owner.isInvalidated else { return }
        if random.oneIn(2) { #expect(owner.friends.map(\.id) == friends[id], comment) }
        if random.oneIn(2) { try checkPlaces(of: owner, connection, comment) }
    }

    /// Checks the first index of each object in an owner's friends.
    private func checkPlaces(of owner: Owner, _ connection: Connection, _ comment: Comment) throws {
        for id in Self.ids {
            guard let other = try connection.object(Owner.self, forPrimaryKey: id) else { continue }
            #expect(try owner.friends.index(of: other) == friends[owner.id]?.firstIndex(of: id), comment)
        }
    }

    /// Makes one change in a list, and returns the expected content.
    private mutating func edit(_ list: List<Owner>, _ before: [Int], _ element: Owner, _ known: Int) -> [Int] {
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

    /// Reads the content that another writer left.
    mutating func reload(_ connection: Connection) throws {
        for id in Self.ids {
            let owner = try connection.object(Owner.self, forPrimaryKey: id)
            friends[id] = owner.map { $0.friends.map(\.id) }
        }
    }
}

@Suite("Lists in write blocks")
struct ListBlockTests {
    @Test("return the first index of an object among the shown elements, before and after deliveries", arguments: 0..<4)
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
