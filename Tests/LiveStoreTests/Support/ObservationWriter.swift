// A random commit on a store of humans and dogs, and the same on the plain model.

@testable import LiveStore
@testable import LiveStoreEngine

/// Changes one transaction and one state alike.
struct ObservationWriter {
    let connection: Connection
    private(set) var state: ModelState
    private(set) var writes = ModelWrites()
    private let version: UInt64

    init(_ connection: Connection, _ state: ModelState, version: UInt64) {
        self.connection = connection
        self.state = state
        self.version = version
    }

    private static let names = ["a", "b", "c"]
    private static let ages = [10, 40, 60, 90]

    /// A few changes, and at least one.
    mutating func change(_ random: inout SeededRandom) throws {
        repeat {
            for _ in 0...random.below(3) { try step(&random) }
        } while writes.humans.isEmpty && writes.dogs.isEmpty
        state.stamp(writes, version)
    }

    private mutating func step(_ random: inout SeededRandom) throws {
        switch random.below(14) {
        case 0: if state.humans.count < 7 { try addHuman(&random) }
        case 1: if state.humans.count > 2 { try deleteHuman(any(state.humans, &random)!) }
        case 2: if state.dogs.count < 8 { try addDog(nil, &random) }
        case 3:
            guard let id = any(state.dogs, &random) else { return }
            let key = state.dogs[id]!.key
            try deleteDog(id)
            // The same key again, as another object.
            if random.oneIn(2) { try addDog(key, &random) }
        case 4, 5, 6:
            guard let id = any(state.humans, &random) else { return }
            let age = random.oneIn(5) ? state.humans[id]!.age : Self.ages[random.below(4)]
            try human(id).age = age
            state.humans[id]!.age = age
            writes.humans[id, default: []].insert(.age)
        case 7, 8:
            guard let id = any(state.humans, &random) else { return }
            let name = random.oneIn(5) ? state.humans[id]!.name : Self.names[random.below(3)]
            try human(id).name = name
            state.humans[id]!.name = name
            writes.humans[id, default: []].insert(.name)
        case 9:
            guard let id = any(state.humans, &random) else { return }
            let boss = random.oneIn(3) ? nil : any(state.humans, &random)
            try human(id).boss = try boss.map { try human($0) }
            state.humans[id]!.link = boss
            writes.humans[id, default: []].insert(.link)
        case 10:
            guard let id = any(state.humans, &random), let friend = any(state.humans, &random) else { return }
            // A list shows what was delivered: in a connection's own write perhaps not all of it, or more.
            let friends = try human(id).friends
            if !(connection is LiveConnection), random.oneIn(2), let gone = friends.first?.objectID?.rawValue {
                friends.remove(at: 0)
                state.humans[id]!.friends.remove(at: state.humans[id]!.friends.firstIndex(of: gone)!)
            } else {
                try human(id).friends.append(human(friend))
                state.humans[id]!.friends.append(friend)
            }
            writes.humans[id, default: []].insert(.friends)
        case 11, 12:
            guard let id = any(state.dogs, &random) else { return }
            let breed = random.oneIn(5) ? state.dogs[id]!.name : Self.names[random.below(3)]
            try dog(id).breed = breed
            state.dogs[id]!.name = breed
            writes.dogs[id, default: []].insert(.name)
        default:
            guard let id = any(state.dogs, &random) else { return }
            let owner = random.oneIn(4) ? nil : any(state.humans, &random)
            try dog(id).owner = try owner.map { try human($0) }
            state.dogs[id]!.link = owner
            writes.dogs[id, default: []].insert(.link)
        }
    }

    private func any(_ rows: [UInt64: ObservedRow], _ random: inout SeededRandom) -> UInt64? {
        rows.isEmpty ? nil : rows.keys.sorted()[random.below(rows.count)]
    }

    private func human(_ id: UInt64) throws -> Human {
        try connection.object(Human.self, forPrimaryKey: state.humans[id]!.key)!
    }

    private func dog(_ id: UInt64) throws -> Dog {
        try connection.object(Dog.self, forPrimaryKey: state.dogs[id]!.key)!
    }

    private mutating func addHuman(_ random: inout SeededRandom) throws {
        let key = (0...).first { key in !state.humans.values.contains { $0.key == key } }!
        var row = ObservedRow(
            isDog: false, key: key, name: Self.names[random.below(3)], age: Self.ages[random.below(4)],
            link: any(state.humans, &random))
        let object = Human(key, row.name, age: row.age)
        object.boss = try row.link.map { try human($0) }
        if random.oneIn(2), let friend = any(state.humans, &random) {
            object.friends.append(try human(friend))
            row.friends = [friend]
        }
        try connection.add(object)
        let id = object.objectID!.rawValue
        row.stamps = row.stamps.map { _ in version }
        state.humans[id] = row
        writes.humans[id] = [.all]
    }

    private mutating func addDog(_ key: Int?, _ random: inout SeededRandom) throws {
        let key = key ?? (0...).first { key in !state.dogs.values.contains { $0.key == key } }!
        var row = ObservedRow(
            isDog: true, key: key, name: Self.names[random.below(3)],
            link: random.oneIn(4) ? nil : any(state.humans, &random))
        let object = Dog(key, owner: try row.link.map { try human($0) }, breed: row.name)
        try connection.add(object)
        let id = object.objectID!.rawValue
        row.stamps = row.stamps.map { _ in version }
        state.dogs[id] = row
        writes.dogs[id] = [.all]
    }

    private mutating func deleteDog(_ id: UInt64) throws {
        try connection.delete(dog(id))
        state.dogs[id] = nil
        writes.dogs[id] = [.all]
    }

    /// What leads to a human leads to nobody then.
    private mutating func deleteHuman(_ id: UInt64) throws {
        try connection.delete(human(id))
        state.humans[id] = nil
        writes.humans[id] = [.all]
        for (dog, row) in state.dogs where row.link == id {
            state.dogs[dog]!.link = nil
            writes.dogs[dog, default: []].insert(.link)
        }
        for (other, row) in state.humans {
            if row.link == id {
                state.humans[other]!.link = nil
                writes.humans[other, default: []].insert(.link)
            }
            if row.friends.contains(id) {
                state.humans[other]!.friends.removeAll { $0 == id }
                writes.humans[other, default: []].insert(.friends)
            }
        }
    }
}
