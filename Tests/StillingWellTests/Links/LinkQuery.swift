// Queries of the random histories of links and lists. Each has a form for the store and a form for the plain model.
import Foundation
import StillingWell
import Testing

/// One row as the model has it.
struct LinkRow: Equatable {
    /// Order of creation, which identifies the row.
    var id: Int
    var stamp: UInt64
    var text: String
}

/// A query in a form for the store and in a form for the model.
struct LinkQuery: Sendable {
    enum Change {
        case initial([String])
        case update([String], ChangeSet)
        case error(StoreError)
    }

    var name: String
    var observe: @Sendable (Connection, @escaping (Change) -> Void) throws -> NotificationToken
    var show: @Sendable (Connection) throws -> [String]
    var evaluate: @Sendable (StoreState) -> [LinkRow]
    /// Observes the same rows without modifications. nil for a list.
    var observeShallow: (@Sendable (Connection, @escaping (Change) -> Void) throws -> NotificationToken)?
    var isShallow = false

    var shallow: LinkQuery? {
        guard let observeShallow else { return nil }
        var query = self
        query.name += ", shallow"
        query.observe = observeShallow
        query.isShallow = true
        return query
    }

    static func text(_ dog: Dog) -> String {
        "\(dog.id) \(dog.breed ?? "-") \(dog.owner.map { "\($0.id) \($0.name)" } ?? "-")"
    }

    static func text(_ human: Human) -> String {
        let friends = human.friends.map { "\($0.id)" }.joined(separator: ",")
        let boss = human.boss.map { "\($0.id)" } ?? "-"
        return "\(human.id) \(human.name) \(human.age) \(boss) [\(friends)] [\(human.tags.joined(separator: ","))]"
    }

    private static func row(_ row: StoreRow, _ state: StoreState) -> LinkRow {
        let linked = state.human(row.link)
        if row.isDog {
            let owner = linked.map { "\($0.key) \($0.name!)" } ?? "-"
            return LinkRow(id: Int(row.id), stamp: row.stamp, text: "\(row.key) \(row.name ?? "-") \(owner)")
        }
        let friends = row.friends.map { "\(state.humans[$0.value]!.key)" }.joined(separator: ",")
        let tags = row.tags.map(\.value).joined(separator: ",")
        let boss = linked.map { "\($0.key)" } ?? "-"
        return LinkRow(
            id: Int(row.id), stamp: row.stamp,
            text: "\(row.key) \(row.name!) \(row.age) \(boss) [\(friends)] [\(tags)]")
    }

    private static func results<Object: StoredObject>(
        _ name: String, _ text: @escaping @Sendable (Object) -> String,
        _ live: @escaping @Sendable (Connection) throws -> Results<Object>,
        _ evaluate: @escaping @Sendable (StoreState) -> [LinkRow]
    ) -> LinkQuery {
        @Sendable func dress(_ change: ResultsChange<Object>) -> Change {
            switch change {
            case .initial(let results): .initial(results.map(text))
            case .update(let results, let changes): .update(results.map(text), changes)
            case .error(let error): .error(error)
            }
        }
        return LinkQuery(
            name: name,
            observe: { connection, body in try live(connection).observe { body(dress($0)) } },
            show: { try live($0).map(text) }, evaluate: evaluate,
            observeShallow: { connection, body in try live(connection).observe(keyPaths: []) { body(dress($0)) } })
    }

    private static func dogs(
        _ name: String, _ live: @escaping @Sendable (Connection) throws -> Results<Dog>,
        order: @escaping @Sendable (StoreRow, StoreRow) -> Bool = { $0.id < $1.id },
        _ passes: @escaping @Sendable (StoreRow, StoreState) -> Bool
    ) -> LinkQuery {
        results(name, { text($0) }, live) { state in
            state.dogs.values.filter { passes($0, state) }.sorted(by: order).map { row($0, state) }
        }
    }

    private static func humans(
        _ name: String, _ live: @escaping @Sendable (Connection) throws -> Results<Human>,
        order: @escaping @Sendable (StoreRow, StoreRow) -> Bool = { $0.id < $1.id },
        _ passes: @escaping @Sendable (StoreRow, StoreState) -> Bool
    ) -> LinkQuery {
        results(name, { text($0) }, live) { state in
            state.humans.values.filter { passes($0, state) }.sorted(by: order).map { row($0, state) }
        }
    }

    private static func list<Element>(
        _ name: String, _ text: @escaping @Sendable (Element) -> String,
        _ live: @escaping @Sendable (Connection) throws -> List<Element>,
        _ evaluate: @escaping @Sendable (StoreState) -> [LinkRow]
    ) -> LinkQuery {
        LinkQuery(
            name: name,
            observe: { connection, body in
                try live(connection).observe { change in
                    switch change {
                    case .initial(let list): body(.initial(list.map(text)))
                    case .update(let list, let changes): body(.update(list.map(text), changes))
                    case .error(let error): body(.error(error))
                    }
                }
            }, show: { try live($0).map(text) }, evaluate: evaluate)
    }

    private static func human(_ connection: Connection, _ key: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: key))
    }

    /// Orders ascending, with nil first.
    private static func precedes<Key: Comparable>(_ a: Key?, _ b: Key?) -> Bool {
        guard let b else { return false }
        return a.map { $0 < b } ?? true
    }

    private static func bossAge(_ dog: StoreRow, _ state: StoreState) -> Int? {
        state.human(state.human(dog.link)?.link)?.age
    }

    /// Elements of a list of friends whose row passes, each with that row.
    private static func friends(
        of key: Int, _ state: StoreState, _ passes: (StoreRow) -> Bool
    ) -> [(ModelElement<UInt64>, StoreRow)] {
        state.human(key: key).friends.map { ($0, state.humans[$0.value]!) }.filter { passes($0.1) }
    }

    private static func row(_ friend: (ModelElement<UInt64>, StoreRow), _ state: StoreState) -> LinkRow {
        LinkRow(id: friend.0.id, stamp: friend.0.stamp, text: row(friend.1, state).text)
    }

    static let all = deep + deep.compactMap(\.shallow)

    private static let deep: [LinkQuery] = [
        dogs("dogs", { try $0.objects(Dog.self) }) { _, _ in true },
        dogs("dogs of a", { try $0.objects(Dog.self).where(\.owner?.name == "a") }) {
            $1.human($0.link)?.name == "a"
        },
        dogs(
            "dogs of young bosses' people, by -id",
            { try $0.objects(Dog.self).where(\.owner?.boss?.age < 50).sorted(by: \.id, ascending: false) },
            order: { $0.key > $1.key },
            { dog, state in
                guard let boss = state.human(state.human(dog.link)?.link) else { return false }
                return boss.age < 50
            }),
        dogs(
            "mongrels not of a",
            { try $0.objects(Dog.self).where(\.owner?.name != "a" && \.breed == nil) },
            { $1.human($0.link)?.name != "a" && $0.name == nil }),
        dogs(
            "dogs without boss, or of breed x",
            { try $0.objects(Dog.self).where(\.owner?.boss == nil || \.breed == "x") },
            { $1.human($0.link)?.link == nil || $0.name == "x" }),
        dogs("dogs of 2", { try human($0, 2).linkingObjects(\Dog.owner) }) { dog, state in
            state.human(dog.link)?.key == 2
        },
        humans("humans with old friends", { try $0.objects(Human.self).where(.any(\.friends, \.age > 50)) }) {
            human, state in human.friends.contains { state.humans[$0.value]!.age > 50 }
        },
        humans("humans without a friend a", { try $0.objects(Human.self).where(.all(\.friends, \.name != "a")) }) {
            human, state in human.friends.allSatisfy { state.humans[$0.value]!.name != "a" }
        },
        humans(
            "humans with friends, by name",
            { try $0.objects(Human.self).where(\.friends.count > 1).sorted(by: \.name) },
            order: { $0.name != $1.name ? $0.name! < $1.name! : $0.id < $1.id },
            { human, _ in human.friends.count > 1 }),
        humans("humans with tag x", { try $0.objects(Human.self).where((\Human.tags).contains("x")) }) {
            human, _ in human.tags.contains { $0.value == "x" }
        },
        humans("humans of old circles", { try $0.objects(Human.self).where((\Human.friends).sum(\.age) > 100) }) {
            human, state in human.friends.reduce(0) { $0 + state.humans[$1.value]!.age } > 100
        },
        humans(
            "humans with a friend whose boss is b",
            {
                try $0.objects(Human.self).where(.any(\.friends, \.boss?.name == "b"))
            }
        ) { human, state in human.friends.contains { state.human(state.humans[$0.value]!.link)?.name == "b" } },
        humans("those who have 1 as a friend", { try human($0, 1).linkingObjects(\Human.friends) }) {
            human, state in human.friends.contains { state.humans[$0.value]!.key == 1 }
        },
        humans("b and ba", { try $0.objects(Human.self).where((\Human.name).in(["b", "ba"])) }) {
            human, _ in ["b", "ba"].contains(human.name!)
        },
        results("dogs by owner", { text($0) }, { try $0.objects(Dog.self).sorted(by: \Dog.owner?.name) }) { state in
            state.dogs.values.sorted { a, b in
                let (first, second) = (state.human(a.link)?.name, state.human(b.link)?.name)
                return first == second ? a.id < b.id : precedes(first, second)
            }.map { row($0, state) }
        },
        results(
            "named dogs by -age of the owner's boss, breed", { text($0) },
            {
                try $0.objects(Dog.self).where(\.owner?.name != "a").sorted(by: [
                    SortKey(\.owner?.boss?.age, ascending: false), SortKey(\.breed),
                ])
            }
        ) { state in
            state.dogs.values.filter { state.human($0.link)?.name != "a" }.sorted { a, b in
                let (first, second) = (bossAge(a, state), bossAge(b, state))
                if first != second { return precedes(second, first) }
                return a.name == b.name ? a.id < b.id : precedes(a.name, b.name)
            }.map { row($0, state) }
        },
        results(
            "first three dogs by owner's age", { text($0) },
            { try $0.objects(Dog.self).sorted(by: \.owner?.age).limited(to: 3) }
        ) { state in
            Array(
                state.dogs.values.sorted { a, b in
                    let (first, second) = (state.human(a.link)?.age, state.human(b.link)?.age)
                    return first == second ? a.id < b.id : precedes(first, second)
                }.prefix(3).map { row($0, state) })
        },
        results(
            "friends of 0 over 20, by age", { text($0) },
            { try human($0, 0).friends.where(\.age > 20).sorted(by: \.age) }
        ) { state in
            friends(of: 0, state) { $0.age > 20 }.enumerated()
                .sorted { ($0.element.1.age, $0.offset) < ($1.element.1.age, $1.offset) }.map { row($0.element, state) }
        },
        results("friends of 0 whose boss is b", { text($0) }, { try human($0, 0).friends.where(\.boss?.name == "b") }) {
            state in friends(of: 0, state) { state.human($0.link)?.name == "b" }.map { row($0, state) }
        },
        results(
            "friends of 1 by -name of the boss", { text($0) },
            {
                try human($0, 1).friends.sorted(by: \.boss?.name, ascending: false)
            }
        ) { state in
            friends(of: 1, state) { _ in true }.enumerated().sorted { a, b in
                let (first, second) = (
                    state.human(a.element.1.link)?.name, state.human(b.element.1.link)?.name
                )
                return first == second ? a.offset < b.offset : precedes(second, first)
            }.map { row($0.element, state) }
        },
        list("friends of 0", { text($0) }, { try human($0, 0).friends }) { state in
            friends(of: 0, state) { _ in true }.map { row($0, state) }
        },
        list("tags of 1", { $0 }, { try human($0, 1).tags }) { state in
            state.human(key: 1).tags.map { LinkRow(id: $0.id, stamp: $0.stamp, text: $0.value) }
        },
    ]
}
