// Model of a store of humans and dogs as plain values. For each row it has the version of the last change, for each
// kind of observer. Random commits change the store and the model alike.
import StillingWell
import StillingWellSeededRandom

/// The modifications that an observer receives.
enum ObservedKind: Int, CaseIterable {
    case everything, breed, ownerName, name, bossName, nothing

    var dogPaths: [PartialKeyPath<Dog>]? {
        switch self {
        case .everything: nil
        case .breed: [\.breed]
        case .ownerName: [\.owner?.name]
        default: []
        }
    }

    var humanPaths: [PartialKeyPath<Human>]? {
        switch self {
        case .everything: nil
        case .name: [\.name]
        case .bossName: [\.boss?.name]
        default: []
        }
    }
}

/// One element of a list, with an identity of its own.
struct ModelElement<Value: Sendable & Equatable>: Sendable, Equatable {
    let id: Int
    var value: Value
    /// Version that last changed the element, the row it refers to, or a row up to three links from that one.
    var stamp: UInt64 = 0
}

/// A human or a dog. Links are ids of humans.
struct StoreRow: Sendable, Equatable {
    let isDog: Bool
    let key: Int
    let id: UInt64
    /// Name of a human, breed of a dog.
    var name: String?
    var age = 0
    /// Boss of a human, owner of a dog.
    var link: UInt64?
    var friends: [ModelElement<UInt64>] = []
    var tags: [ModelElement<String>] = []
    /// Version of the last change that an observer receives as a modification, by kind of observer.
    var stamps = [UInt64](repeating: 0, count: ObservedKind.allCases.count)

    var stamp: UInt64 { stamps[ObservedKind.everything.rawValue] }
}

struct StoreState: Sendable, Equatable {
    /// Rows by object id. Each class has ids of its own.
    var humans: [UInt64: StoreRow] = [:]
    var dogs: [UInt64: StoreRow] = [:]

    func human(_ id: UInt64?) -> StoreRow? { id.flatMap { humans[$0] } }
    func human(key: Int) -> StoreRow { humans.values.first { $0.key == key }! }
}

/// Rows, columns and list elements that one commit wrote.
struct StoreWrites: Sendable {
    enum Column { case name, age, link, friends, tags, all }

    var humans: [UInt64: Set<Column>] = [:]
    var dogs: [UInt64: Set<Column>] = [:]
    var elements: Set<Int> = []

    var isEmpty: Bool { humans.isEmpty && dogs.isEmpty }
}

/// A state, and the random commits that change it.
struct StoreModel: Sendable {
    var state = StoreState()
    /// Writes of the last commit.
    var writes = StoreWrites()
    private var elements = 0

    /// Humans with a key below this are never deleted, so that their lists can be observed throughout.
    static let permanent = 3
    /// Number of keys. Those of humans and dogs are from 0 to `keys - 1`.
    static let keys = 10

    /// Adds the permanent humans.
    mutating func start(_ connection: Connection, version: UInt64) throws {
        writes = StoreWrites()
        for key in 0..<Self.permanent {
            let human = Human(key)
            try connection.add(human)
            note(StoreRow(isDog: false, key: key, id: human.objectID!.rawValue, name: ""))
        }
        stamp(version)
    }

    /// Makes at least one change, in the transaction and in the model.
    /// - Parameter isBehind: whether the connection's lists and queries show an older version than the transaction's.
    mutating func change(
        _ connection: Connection, version: UInt64, _ random: inout SeededRandom, isBehind: Bool = false
    ) throws {
        writes = StoreWrites()
        repeat {
            for _ in 0...random.below(4) { try step(connection, &random, isBehind) }
        } while writes.isEmpty
        stamp(version)
    }

    mutating func element<Value>(_ value: Value) -> ModelElement<Value> {
        elements += 1
        writes.elements.insert(elements)
        return ModelElement(id: elements, value: value)
    }

    /// Adds a new row.
    mutating func note(_ row: StoreRow) {
        if row.isDog { state.dogs[row.id] = row } else { state.humans[row.id] = row }
        if row.isDog { writes.dogs[row.id] = [.all] } else { writes.humans[row.id] = [.all] }
    }

    // MARK: Stamps

    /// Stamps the rows that a commit changed. Links after it suffice: a row that lost a link was written.
    private mutating func stamp(_ version: UInt64) {
        let after = state
        for kind in ObservedKind.allCases {
            for (id, row) in after.dogs where isChanged(row, writes.dogs[id] ?? [], kind) {
                state.dogs[id]!.stamps[kind.rawValue] = version
            }
            for (id, row) in after.humans where isChanged(row, writes.humans[id] ?? [], kind) {
                state.humans[id]!.stamps[kind.rawValue] = version
            }
        }
        for (id, row) in after.humans {
            for (index, element) in row.friends.enumerated() {
                let isWritten = writes.elements.contains(element.id) || writes.humans[element.value] != nil
                if isWritten || leads(after.humans[element.value]!) {
                    state.humans[id]!.friends[index].stamp = version
                }
            }
            for (index, element) in row.tags.enumerated() where writes.elements.contains(element.id) {
                state.humans[id]!.tags[index].stamp = version
            }
        }
    }

    private func isChanged(_ row: StoreRow, _ own: Set<StoreWrites.Column>, _ kind: ObservedKind) -> Bool {
        if own.contains(.all) { return true }
        switch kind {
        case .everything: return !own.isEmpty || leads(row)
        case .breed, .name: return own.contains(.name)
        case .ownerName, .bossName:
            let columns = row.link.flatMap { writes.humans[$0] } ?? []
            return own.contains(.link) || columns.contains(.name) || columns.contains(.all)
        case .nothing: return false
        }
    }

    /// Returns whether a written human is at most three links away from a row.
    private func leads(_ row: StoreRow, _ depth: Int = 2) -> Bool {
        if writes.humans.isEmpty { return false }
        for id in row.friends.map(\.value) + (row.link.map { [$0] } ?? []) {
            if writes.humans[id] != nil { return true }
            if depth > 0, let next = state.humans[id], leads(next, depth - 1) { return true }
        }
        return false
    }
}
