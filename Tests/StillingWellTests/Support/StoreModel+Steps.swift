// Steps of random commits on humans and dogs.
import StillingWell
import StillingWellSeededRandom

extension StoreModel {
    private static let names = ["", "a", "b", "ba"]
    private static let breeds = [nil, "a", "b", "x"]
    private static let tags = ["x", "y", "z"]

    mutating func step(_ connection: Connection, _ random: inout SeededRandom, _ isBehind: Bool) throws {
        switch random.below(isBehind ? 11 : 18) {
        case 0: try addHuman(connection, &random)
        case 1: try addDog(connection, freeKey(state.dogs, 0, &random), &random)
        case 2: try deleteHuman(connection, &random)
        case 3: try deleteDog(connection, &random)
        case 4, 5, 6: try setHuman(connection, &random)
        case 7: try setBoss(connection, &random)
        case 8, 9: try setDog(connection, &random)
        case 10: try addFriend(connection, &random)
        case 11, 12: try changeTags(connection, &random)
        case 13, 14: try changeFriends(connection, &random)
        case 15: try putDog(connection, &random)
        case 16: try putHuman(connection, &random)
        default: try deleteDogs(connection, &random)
        }
    }

    private func any(_ rows: [UInt64: StoreRow], _ random: inout SeededRandom) -> UInt64? {
        rows.keys.sorted().randomElement(using: &random)
    }

    private func anyHuman(_ random: inout SeededRandom) -> UInt64 { any(state.humans, &random)! }

    /// Returns a random human, or nil once in `rarity` times.
    private func link(_ rarity: Int, _ random: inout SeededRandom) -> UInt64? {
        random.oneIn(rarity) ? nil : anyHuman(&random)
    }

    private func human(_ connection: Connection, _ id: UInt64?) throws -> Human? {
        try id.map { try connection.object(Human.self, forPrimaryKey: state.humans[$0]!.key)! }
    }

    private func dog(_ connection: Connection, _ id: UInt64) throws -> Dog {
        try connection.object(Dog.self, forPrimaryKey: state.dogs[id]!.key)!
    }

    private func freeKey(_ rows: [UInt64: StoreRow], _ first: Int, _ random: inout SeededRandom) -> Int? {
        let key = first + random.below(Self.keys - first)
        return rows.values.contains { $0.key == key } ? nil : key
    }

    // MARK: Objects

    private mutating func addHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = freeKey(state.humans, Self.permanent, &random) else { return }
        let (name, age) = (Self.names[random.below(4)], Self.age(&random))
        let (boss, friend) = (link(2, &random), link(2, &random))
        let added = Human(key, name, age: age)
        added.boss = try human(connection, boss)
        if let friend = try human(connection, friend) { added.friends.append(friend) }
        try connection.add(added)
        let friends = friend.map { [element($0)] } ?? []
        note(
            StoreRow(
                isDog: false, key: key, id: added.objectID!.rawValue, name: name, age: age, link: boss,
                friends: friends))
    }

    private static func age(_ random: inout SeededRandom) -> Int {
        random.oneIn(2) ? random.below(100) : [10, 40, 60, 90][random.below(4)]
    }

    private mutating func addDog(_ connection: Connection, _ key: Int?, _ random: inout SeededRandom) throws {
        guard let key else { return }
        let (owner, breed) = (link(4, &random), Self.breeds[random.below(4)])
        let added = Dog(key, owner: try human(connection, owner), breed: breed)
        try connection.add(added)
        note(StoreRow(isDog: true, key: key, id: added.objectID!.rawValue, name: breed, link: owner))
    }

    private mutating func deleteHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let id = anyHuman(&random)
        guard state.humans[id]!.key >= Self.permanent else { return }
        try connection.delete(human(connection, id)!)
        state.humans[id] = nil
        writes.humans[id] = [.all]
        for (other, dog) in state.dogs where dog.link == id {
            state.dogs[other]!.link = nil
            writes.dogs[other, default: []].insert(.link)
        }
        for (other, row) in state.humans {
            if row.link == id {
                state.humans[other]!.link = nil
                writes.humans[other, default: []].insert(.link)
            }
            if row.friends.contains(where: { $0.value == id }) {
                state.humans[other]!.friends.removeAll { $0.value == id }
                writes.humans[other, default: []].insert(.friends)
            }
        }
    }

    /// Deletes a dog. Adds another one with its key in half of the cases.
    private mutating func deleteDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let id = any(state.dogs, &random) else { return }
        try connection.delete(dog(connection, id))
        let key = state.dogs.removeValue(forKey: id)!.key
        writes.dogs[id] = [.all]
        if random.oneIn(2) { try addDog(connection, key, &random) }
    }

    private mutating func deleteDogs(_ connection: Connection, _ random: inout SeededRandom) throws {
        let breed = Self.breeds[random.below(4)]
        try connection.delete(connection.objects(Dog.self).where(\.breed == breed).sorted(by: \.id).limited(to: 2))
        for dog in state.dogs.values.filter({ $0.name == breed }).sorted(by: { $0.key < $1.key }).prefix(2) {
            state.dogs[dog.id] = nil
            writes.dogs[dog.id] = [.all]
        }
    }

    private mutating func setHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let id = anyHuman(&random)
        let object = try human(connection, id)!
        if random.oneIn(2) {
            let name = Self.names[random.below(4)]
            (object.name, state.humans[id]!.name) = (name, name)
            writes.humans[id, default: []].insert(.name)
        } else {
            let age = Self.age(&random)
            (object.age, state.humans[id]!.age) = (age, age)
            writes.humans[id, default: []].insert(.age)
        }
    }

    private mutating func setBoss(_ connection: Connection, _ random: inout SeededRandom) throws {
        let (id, boss) = (anyHuman(&random), link(3, &random))
        try human(connection, id)!.boss = try human(connection, boss)
        state.humans[id]!.link = boss
        writes.humans[id, default: []].insert(.link)
    }

    private mutating func setDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let id = any(state.dogs, &random) else { return }
        let object = try dog(connection, id)
        if random.oneIn(2) {
            let breed = Self.breeds[random.below(4)]
            (object.breed, state.dogs[id]!.name) = (breed, breed)
            writes.dogs[id, default: []].insert(.name)
        } else {
            let owner = link(4, &random)
            object.owner = try human(connection, owner)
            state.dogs[id]!.link = owner
            writes.dogs[id, default: []].insert(.link)
        }
    }

    // MARK: Adding existing objects

    private mutating func putDog(_ connection: Connection, _ random: inout SeededRandom) throws {
        let (key, owner, breed) = (random.below(Self.keys), link(4, &random), Self.breeds[random.below(4)])
        let policy: UpdatePolicy = random.oneIn(2) ? .modified : .all
        let dog = Dog(key, owner: try human(connection, owner), breed: breed)
        try connection.add(dog, update: policy)
        let id = dog.objectID!.rawValue
        guard let before = state.dogs[id] else {
            return note(StoreRow(isDog: true, key: key, id: id, name: breed, link: owner))
        }
        if policy == .all || before.name != breed { writes.dogs[id, default: []].insert(.name) }
        if policy == .all || before.link != owner { writes.dogs[id, default: []].insert(.link) }
        (state.dogs[id]!.name, state.dogs[id]!.link) = (breed, owner)
    }

    private mutating func putHuman(_ connection: Connection, _ random: inout SeededRandom) throws {
        let (key, name) = (random.below(Self.keys), Self.names[random.below(4)])
        let tags = (0..<random.below(3)).map { _ in Self.tags[random.below(3)] }
        let human = try connection.create(
            Human.self, value: ["id": key, "name": name, "tags": tags], update: .modified)
        let id = human.objectID!.rawValue
        guard let before = state.humans[id] else {
            let elements = tags.map { element($0) }
            return note(StoreRow(isDog: false, key: key, id: id, name: name, tags: elements))
        }
        if before.name != name { writes.humans[id, default: []].insert(.name) }
        state.humans[id]!.name = name
        let kept = zip(before.tags, tags).prefix { $0.value == $1 }.count
        let new = tags[kept...].map { element($0) }
        if kept < before.tags.count || !new.isEmpty { writes.humans[id, default: []].insert(.tags) }
        state.humans[id]!.tags.replaceSubrange(kept..., with: new)
    }

    // MARK: Lists

    private mutating func addFriend(_ connection: Connection, _ random: inout SeededRandom) throws {
        let (id, friend) = (anyHuman(&random), anyHuman(&random))
        try human(connection, id)!.friends.append(human(connection, friend)!)
        let added = element(friend)
        state.humans[id]!.friends.append(added)
        writes.humans[id, default: []].insert(.friends)
    }

    private mutating func changeTags(_ connection: Connection, _ random: inout SeededRandom) throws {
        let id = random.oneIn(2) ? state.human(key: 1).id : anyHuman(&random)
        let tag = Self.tags[random.below(3)]
        try change(human(connection, id)!.tags, \.tags, .tags, id, live: tag, value: tag, &random)
    }

    private mutating func changeFriends(_ connection: Connection, _ random: inout SeededRandom) throws {
        let id = random.oneIn(2) ? state.human(key: 0).id : anyHuman(&random)
        let friend = anyHuman(&random)
        try change(
            human(connection, id)!.friends, \.friends, .friends, id, live: human(connection, friend)!, value: friend,
            &random)
    }

    private mutating func change<Object, Value>(
        _ list: List<Object>, _ path: WritableKeyPath<StoreRow, [ModelElement<Value>]>, _ column: StoreWrites.Column,
        _ id: UInt64, live: Object, value: Value, _ random: inout SeededRandom
    ) {
        var elements = state.humans[id]![keyPath: path]
        let before = elements
        var isSet = false
        let index = random.below(elements.count + 1)
        let other = elements.isEmpty ? 0 : random.below(elements.count)
        switch random.below(elements.count > 8 ? 12 : 8) {
        case 0, 1:
            list.append(live)
            elements.append(element(value))
        case 2, 3:
            list.insert(live, at: index)
            elements.insert(element(value), at: index)
        case 4:
            guard index < elements.count else { return }
            list[index] = live
            elements[index].value = value
            writes.elements.insert(elements[index].id)
            isSet = true
        case 5:
            guard index < elements.count else { return }
            list.move(from: index, to: other)
            elements.insert(elements.remove(at: index), at: other)
            if index != other { writes.elements.insert(elements[other].id) }
        case 6:
            guard index < elements.count else { return }
            list.swapAt(index, other)
            elements.swapAt(index, other)
            if index != other { writes.elements.formUnion([elements[index].id, elements[other].id]) }
        case 7, 9, 10:
            guard index < elements.count else { return }
            list.remove(at: index)
            elements.remove(at: index)
        default:
            list.removeAll()
            elements = []
        }
        state.humans[id]![keyPath: path] = elements
        if isSet || elements != before { writes.humans[id, default: []].insert(column) }
    }
}
