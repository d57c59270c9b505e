// What a store of humans and dogs should hold and show, kept as plain values: links by primary keys, lists as arrays,
// and for every row the version that last changed it or something it leads to.
import Foundation
import LiveStore

/// One element of a list, with an identity of its own.
struct ElementValue<Value: Sendable & Equatable>: Sendable, Equatable {
    var id: Int
    var value: Value
    /// The version that changed it last, or something it leads to.
    var stamp: UInt64 = 0
}

struct HumanValue: Sendable, Equatable {
    var key: Int
    /// Order of creation, as object ids have it.
    var birth: Int
    var name = ""
    var age = 0
    var boss: Int?
    var friends: [ElementValue<Int>] = []
    var tags: [ElementValue<String>] = []
    var stamp: UInt64 = 0
}

struct DogValue: Sendable, Equatable {
    var key: Int
    var birth: Int
    var breed: String?
    var owner: Int?
    var stamp: UInt64 = 0
}

struct LinkState: Sendable, Equatable {
    var humans: [Int: HumanValue] = [:]
    var dogs: [Int: DogValue] = [:]

    func human(_ key: Int?) -> HumanValue? { key.flatMap { humans[$0] } }

    /// Births of the humans that `start` leads to, itself included, over so many further links.
    func reached(from start: [Int], _ depth: Int) -> Set<Int> {
        var found: Set<Int> = []
        var front = Set(start)
        for level in 0...depth {
            var next: Set<Int> = []
            for human in front.compactMap({ humans[$0] }) {
                found.insert(human.birth)
                if level < depth { next.formUnion([human.boss].compactMap(\.self) + human.friends.map(\.value)) }
            }
            front = next
        }
        return found
    }
}

/// A state, and how a random commit changes it and the store.
struct LinkModel: Sendable {
    private(set) var state = LinkState()
    private var births = 0
    /// Births of humans, dogs and elements that the commit has written; they share one counter.
    private var written: Set<Int> = []

    /// Humans below this key are never deleted, so that their lists can be observed throughout.
    static let permanent = 3
    private static let names = ["", "a", "b", "c"]

    private mutating func birth() -> Int {
        births += 1
        written.insert(births)
        return births
    }

    /// Makes the permanent humans.
    mutating func start(_ connection: Connection, version: UInt64) throws {
        written = []
        let before = state
        for key in 0..<Self.permanent {
            try connection.add(Human(key))
            state.humans[key] = HumanValue(key: key, birth: birth())
        }
        stamp(version, before)
    }

    /// Changes a few rows, in the transaction and here.
    mutating func change(_ connection: Connection, version: UInt64, _ random: inout SeededRandom) throws {
        written = []
        let before = state
        for _ in 0...random.below(4) {
            switch random.below(15) {
            case 0: try addHuman(connection, &random)
            case 1: try addDog(connection, &random)
            case 2: try deleteHuman(connection, &random)
            case 3: try deleteDog(connection, &random)
            case 4, 5: try setHuman(connection, &random)
            case 6: try setBoss(connection, &random)
            case 7: try setDog(connection, &random)
            case 8, 9: try changeTags(connection, &random)
            case 10: try putDog(connection, &random)
            case 11: try putHuman(connection, &random)
            case 12: try deleteDogs(connection, &random)
            default: try changeFriends(connection, &random)
            }
        }
        stamp(version, before)
    }

    // MARK: Stamps

    /// A row has changed if it was written, or something that it leads to, or led to before.
    private mutating func stamp(_ version: UInt64, _ before: LinkState) {
        let after = state
        func isChanged(_ start: (LinkState) -> [Int], _ depth: Int) -> Bool {
            !before.reached(from: start(before), depth).isDisjoint(with: written)
                || !after.reached(from: start(after), depth).isDisjoint(with: written)
        }
        for (key, dog) in after.dogs {
            let starts = { (state: LinkState) -> [Int] in
                [state.dogs[key]].compactMap(\.self).filter { $0.birth == dog.birth }.compactMap(\.owner)
            }
            if written.contains(dog.birth) || isChanged(starts, 2) { state.dogs[key]!.stamp = version }
        }
        for (key, human) in after.humans {
            let starts = { (state: LinkState) in state.humans[key]?.birth == human.birth ? [key] : [] }
            if isChanged(starts, 3) { state.humans[key]!.stamp = version }
            for (index, element) in human.friends.enumerated() {
                let starts = { (state: LinkState) in
                    state.humans[key]?.friends.first { $0.id == element.id }.map { [$0.value] } ?? []
                }
                if written.contains(element.id) || isChanged(starts, 3) {
                    state.humans[key]!.friends[index].stamp = version
                }
            }
            for (index, element) in human.tags.enumerated() where written.contains(element.id) {
                state.humans[key]!.tags[index].stamp = version
            }
        }
    }

    // MARK: Objects

    private func anyHuman(_ random: inout SeededRandom) -> Int {
        state.humans.keys.sorted().randomElement(using: &random)!
    }

    private func human(_ connection: Connection, _ key: Int) throws -> Human {
        try connection.object(Human.self, forPrimaryKey: key)!
    }

    private func freeKey(_ taken: some Collection<Int>, _ random: inout SeededRandom) -> Int? {
        let key = Self.permanent + random.below(12)
        return taken.contains(key) ? nil : key
    }

    private mutating func addHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = freeKey(state.humans.keys, &random) else { return }
        let boss = random.oneIn(2) ? anyHuman(&random) : nil
        let friend = random.oneIn(2) ? anyHuman(&random) : nil
        let added = Human(key, "b", age: key * 5)
        added.boss = try boss.map { try human(connection, $0) }
        if let friend { added.friends.append(try human(connection, friend)) }
        try connection.add(added)
        var value = HumanValue(key: key, birth: birth(), name: "b", age: key * 5, boss: boss)
        if let friend { value.friends = [ElementValue(id: birth(), value: friend)] }
        state.humans[key] = value
    }

    private mutating func addDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = freeKey(state.dogs.keys, &random) else { return }
        let owner = random.oneIn(4) ? nil : anyHuman(&random)
        let breed = random.oneIn(2) ? nil : "x"
        try connection.add(Dog(key, owner: try owner.map { try human(connection, $0) }, breed: breed))
        state.dogs[key] = DogValue(key: key, birth: birth(), breed: breed, owner: owner)
    }

    private mutating func deleteHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = anyHuman(&random)
        guard key >= Self.permanent else { return }
        try connection.delete(human(connection, key))
        state.humans[key] = nil
        for (other, dog) in state.dogs where dog.owner == key {
            state.dogs[other]!.owner = nil
            written.insert(dog.birth)
        }
        for (other, value) in state.humans {
            if value.boss == key { state.humans[other]!.boss = nil }
            state.humans[other]!.friends.removeAll { $0.value == key }
            if state.humans[other] != value { written.insert(value.birth) }
        }
    }

    private mutating func deleteDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = state.dogs.keys.sorted().randomElement(using: &random) else { return }
        try connection.delete(connection.object(Dog.self, forPrimaryKey: key)!)
        state.dogs[key] = nil
    }

    private mutating func setHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = anyHuman(&random)
        let object = try human(connection, key)
        if random.oneIn(2) {
            state.humans[key]!.name = Self.names[random.below(Self.names.count)]
            object.name = state.humans[key]!.name
        } else {
            state.humans[key]!.age = random.below(100)
            object.age = state.humans[key]!.age
        }
        written.insert(state.humans[key]!.birth)
    }

    private mutating func setBoss(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = anyHuman(&random)
        let boss = random.oneIn(3) ? nil : anyHuman(&random)
        try human(connection, key).boss = try boss.map { try human(connection, $0) }
        state.humans[key]!.boss = boss
        written.insert(state.humans[key]!.birth)
    }

    private mutating func setDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = state.dogs.keys.sorted().randomElement(using: &random) else { return }
        let dog = try connection.object(Dog.self, forPrimaryKey: key)!
        if random.oneIn(3) {
            dog.breed = random.oneIn(2) ? nil : "x"
            state.dogs[key]!.breed = dog.breed
        } else {
            let owner = random.oneIn(4) ? nil : anyHuman(&random)
            dog.owner = try owner.map { try human(connection, $0) }
            state.dogs[key]!.owner = owner
        }
        written.insert(state.dogs[key]!.birth)
    }

    // MARK: Whatever is there already

    private mutating func putDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = Self.permanent + random.below(12)
        let owner = random.oneIn(4) ? nil : anyHuman(&random)
        let breed = random.oneIn(2) ? nil : "x"
        let policy: UpdatePolicy = random.oneIn(2) ? .modified : .all
        let dog = Dog(key, owner: try owner.map { try human(connection, $0) }, breed: breed)
        try connection.add(dog, update: policy)
        var value = state.dogs[key] ?? DogValue(key: key, birth: birth())
        if policy == .all || value.breed != breed || value.owner != owner { written.insert(value.birth) }
        (value.breed, value.owner) = (breed, owner)
        state.dogs[key] = value
    }

    private mutating func putHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = random.below(Self.permanent + 12)
        let tags = (0..<random.below(3)).map { _ in ["x", "y", "z"][random.below(3)] }
        let name = Self.names[random.below(Self.names.count)]
        try connection.create(Human.self, value: ["id": key, "name": name, "tags": tags], update: .modified)
        let before = state.humans[key]
        var value = before ?? HumanValue(key: key, birth: birth())
        value.name = name
        let kept = zip(value.tags, tags).prefix { $0.value == $1 }.count
        value.tags.removeSubrange(kept...)
        value.tags += tags[kept...].map { ElementValue(id: birth(), value: $0) }
        if value != before { written.insert(value.birth) }
        state.humans[key] = value
    }

    private mutating func deleteDogs(_ connection: Connection, _ random: inout SeededRandom) throws {
        let breed = random.oneIn(2) ? nil : "x"
        let some = try connection.objects(Dog.self).where(\.breed == breed).sorted(by: \.id).limited(to: 2)
        try connection.delete(some)
        for dog in state.dogs.values.filter({ $0.breed == breed }).sorted(by: { $0.key < $1.key }).prefix(2) {
            state.dogs[dog.key] = nil
        }
    }

    // MARK: Lists

    private mutating func changeTags(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = random.oneIn(2) ? 1 : anyHuman(&random)
        let tag = ["x", "y", "z"][random.below(3)]
        try change(human(connection, key).tags, \.tags, key, live: tag, value: tag, &random)
    }

    private mutating func changeFriends(_ connection: Connection, _ random: inout SeededRandom) throws {
        let key = random.oneIn(2) ? 0 : anyHuman(&random)
        let friend = anyHuman(&random)
        try change(
            human(connection, key).friends, \.friends, key, live: try human(connection, friend), value: friend, &random)
    }

    private mutating func change<Element, Value>(
        _ list: List<Element>, _ path: WritableKeyPath<HumanValue, [ElementValue<Value>]>, _ key: Int, live: Element,
        value: Value, _ random: inout SeededRandom
    ) throws {
        var elements = state.humans[key]![keyPath: path]
        let before = elements
        let index = random.below(elements.count + 1)
        let other = elements.isEmpty ? 0 : random.below(elements.count)
        switch random.below(elements.count > 8 ? 12 : 8) {
        case 0, 1:
            list.append(live)
            elements.append(ElementValue(id: birth(), value: value))
        case 2, 3:
            list.insert(live, at: index)
            elements.insert(ElementValue(id: birth(), value: value), at: index)
        case 4:
            guard index < elements.count else { return }
            list[index] = live
            elements[index].value = value
            written.insert(elements[index].id)
            written.insert(state.humans[key]!.birth)
        case 5:
            guard index < elements.count else { return }
            list.move(from: index, to: other)
            elements.insert(elements.remove(at: index), at: other)
            if index != other { written.insert(elements[other].id) }
        case 6:
            guard index < elements.count else { return }
            list.swapAt(index, other)
            elements.swapAt(index, other)
            if index != other { written.formUnion([elements[index].id, elements[other].id]) }
        case 7, 9, 10:
            guard index < elements.count else { return }
            list.remove(at: index)
            elements.remove(at: index)
        default:
            list.removeAll()
            elements = []
        }
        state.humans[key]![keyPath: path] = elements
        if elements != before { written.insert(state.humans[key]!.birth) }
    }
}
