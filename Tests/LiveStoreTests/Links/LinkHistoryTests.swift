// Random histories of links, lists and deletions against a plain model: every observer is led from state to state by
// change sets, sees what the query should show at that version, and is told exactly the rows that were written or lead
// to such a row, however commits are coalesced. Own writes are shown at once, over links too.
import Foundation
import LiveStore
import Testing
import TracedSync

/// One row as the model has it.
private struct Row: Equatable {
    /// Order of creation: the row's identity.
    var id: Int
    var stamp: UInt64
    var text: String
}

/// A query in both languages.
private struct LinkQuery: Sendable {
    enum Change {
        case initial([String])
        case update([String], ChangeSet)
        case error(StoreError)
    }

    var name: String
    var observe: @Sendable (Connection, @escaping (Change) -> Void) throws -> NotificationToken
    var show: @Sendable (Connection) throws -> [String]
    var evaluate: @Sendable (LinkState) -> [Row]
    /// The same rows, observed without modifications; nil for a list.
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

    private static func row(_ dog: DogValue, _ state: LinkState) -> Row {
        let owner = state.human(dog.owner).map { "\($0.key) \($0.name)" } ?? "-"
        return Row(id: dog.birth, stamp: dog.stamp, text: "\(dog.key) \(dog.breed ?? "-") \(owner)")
    }

    private static func row(_ human: HumanValue) -> Row {
        let friends = human.friends.map { "\($0.value)" }.joined(separator: ",")
        let tags = human.tags.map(\.value).joined(separator: ",")
        let boss = human.boss.map { "\($0)" } ?? "-"
        return Row(
            id: human.birth, stamp: human.stamp,
            text: "\(human.key) \(human.name) \(human.age) \(boss) [\(friends)] [\(tags)]")
    }

    private static func results<Object: StoredObject>(
        _ name: String, _ text: @escaping @Sendable (Object) -> String,
        _ live: @escaping @Sendable (Connection) throws -> Results<Object>,
        _ evaluate: @escaping @Sendable (LinkState) -> [Row]
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
        order: @escaping @Sendable (DogValue, DogValue) -> Bool = { $0.birth < $1.birth },
        _ passes: @escaping @Sendable (DogValue, LinkState) -> Bool
    ) -> LinkQuery {
        results(name, { text($0) }, live) { state in
            state.dogs.values.filter { passes($0, state) }.sorted(by: order).map { row($0, state) }
        }
    }

    private static func humans(
        _ name: String, _ live: @escaping @Sendable (Connection) throws -> Results<Human>,
        order: @escaping @Sendable (HumanValue, HumanValue) -> Bool = { $0.birth < $1.birth },
        _ passes: @escaping @Sendable (HumanValue, LinkState) -> Bool
    ) -> LinkQuery {
        results(name, { text($0) }, live) { state in
            state.humans.values.filter { passes($0, state) }.sorted(by: order).map { row($0) }
        }
    }

    private static func list<Element>(
        _ name: String, _ text: @escaping @Sendable (Element) -> String,
        _ live: @escaping @Sendable (Connection) throws -> List<Element>,
        _ evaluate: @escaping @Sendable (LinkState) -> [Row]
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

    /// In an order that ascends: nil first.
    private static func precedes<Key: Comparable>(_ a: Key?, _ b: Key?) -> Bool {
        guard let b else { return false }
        return a.map { $0 < b } ?? true
    }

    private static func bossAge(_ dog: DogValue, _ state: LinkState) -> Int? {
        state.human(state.human(dog.owner)?.boss)?.age
    }

    /// Elements of a list of friends, with whom they lead to.
    private static func friends(
        of key: Int, _ state: LinkState, _ passes: (HumanValue) -> Bool
    ) -> [(ElementValue<Int>, HumanValue)] {
        state.humans[key]!.friends.map { ($0, state.humans[$0.value]!) }.filter { passes($0.1) }
    }

    private static func row(_ friend: (ElementValue<Int>, HumanValue)) -> Row {
        Row(id: friend.0.id, stamp: friend.0.stamp, text: row(friend.1).text)
    }

    static let all = deep + deep.compactMap(\.shallow)

    private static let deep: [LinkQuery] = [
        dogs("dogs", { try $0.objects(Dog.self) }) { _, _ in true },
        dogs("dogs of a", { try $0.objects(Dog.self).where(\.owner?.name == "a") }) {
            $1.human($0.owner)?.name == "a"
        },
        dogs(
            "dogs of young bosses' people, by -id",
            { try $0.objects(Dog.self).where(\.owner?.boss?.age < 50).sorted(by: \.id, ascending: false) },
            order: { $0.key > $1.key },
            { dog, state in
                guard let boss = state.human(state.human(dog.owner)?.boss) else { return false }
                return boss.age < 50
            }),
        dogs(
            "mongrels not of a",
            { try $0.objects(Dog.self).where(\.owner?.name != "a" && \.breed == nil) },
            { $1.human($0.owner)?.name != "a" && $0.breed == nil }),
        dogs(
            "dogs without boss, or of breed x",
            { try $0.objects(Dog.self).where(\.owner?.boss == nil || \.breed == "x") },
            { $1.human($0.owner)?.boss == nil || $0.breed == "x" }),
        dogs("dogs of 2", { try human($0, 2).linkingObjects(\Dog.owner) }) { dog, _ in dog.owner == 2 },
        humans("humans with old friends", { try $0.objects(Human.self).where(.any(\.friends, \.age > 50)) }) {
            human, state in human.friends.contains { state.humans[$0.value]!.age > 50 }
        },
        humans("humans without a friend a", { try $0.objects(Human.self).where(.all(\.friends, \.name != "a")) }) {
            human, state in human.friends.allSatisfy { state.humans[$0.value]!.name != "a" }
        },
        humans(
            "humans with friends, by name",
            { try $0.objects(Human.self).where(\.friends.count > 1).sorted(by: \.name) },
            order: { $0.name != $1.name ? $0.name < $1.name : $0.birth < $1.birth },
            { human, _ in human.friends.count > 1 }),
        humans("humans with tag x", { try $0.objects(Human.self).where((\Human.tags).contains("x")) }) {
            human, _ in human.tags.contains { $0.value == "x" }
        },
        humans("humans of old circles", { try $0.objects(Human.self).where((\Human.friends).sum(\.age) > 100) }) {
            human, state in human.friends.reduce(0) { $0 + state.humans[$1.value]!.age } > 100
        },
        humans(
            "humans whose boss has dogs' friends",
            {
                try $0.objects(Human.self).where(.any(\.friends, \.boss?.name == "b"))
            }
        ) { human, state in human.friends.contains { state.human(state.humans[$0.value]!.boss)?.name == "b" } },
        humans("those who have 1 as a friend", { try human($0, 1).linkingObjects(\Human.friends) }) {
            human, _ in human.friends.contains { $0.value == 1 }
        },
        humans("b and c", { try $0.objects(Human.self).where((\Human.name).isOne(of: ["b", "c"])) }) {
            human, _ in ["b", "c"].contains(human.name)
        },
        results("dogs by owner", { text($0) }, { try $0.objects(Dog.self).sorted(by: \Dog.owner?.name) }) { state in
            state.dogs.values.sorted { a, b in
                let (first, second) = (state.human(a.owner)?.name, state.human(b.owner)?.name)
                return first == second ? a.birth < b.birth : precedes(first, second)
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
            state.dogs.values.filter { state.human($0.owner)?.name != "a" }.sorted { a, b in
                let (first, second) = (bossAge(a, state), bossAge(b, state))
                if first != second { return precedes(second, first) }
                return a.breed == b.breed ? a.birth < b.birth : precedes(a.breed, b.breed)
            }.map { row($0, state) }
        },
        results(
            "first three dogs by owner's age", { text($0) },
            { try $0.objects(Dog.self).sorted(by: \.owner?.age).limited(to: 3) }
        ) { state in
            Array(
                state.dogs.values.sorted { a, b in
                    let (first, second) = (state.human(a.owner)?.age, state.human(b.owner)?.age)
                    return first == second ? a.birth < b.birth : precedes(first, second)
                }.prefix(3).map { row($0, state) })
        },
        results(
            "friends of 0 over 20, by age", { text($0) },
            { try human($0, 0).friends.where(\.age > 20).sorted(by: \.age) }
        ) { state in
            friends(of: 0, state) { $0.age > 20 }.enumerated()
                .sorted { ($0.element.1.age, $0.offset) < ($1.element.1.age, $1.offset) }.map { row($0.element) }
        },
        results("friends of 0 whose boss is b", { text($0) }, { try human($0, 0).friends.where(\.boss?.name == "b") }) {
            state in friends(of: 0, state) { state.human($0.boss)?.name == "b" }.map { row($0) }
        },
        results(
            "friends of 1 by -name of the boss", { text($0) },
            {
                try human($0, 1).friends.sorted(by: \.boss?.name, ascending: false)
            }
        ) { state in
            friends(of: 1, state) { _ in true }.enumerated().sorted { a, b in
                let (first, second) = (
                    state.human(a.element.1.boss)?.name, state.human(b.element.1.boss)?.name
                )
                return first == second ? a.offset < b.offset : precedes(second, first)
            }.map { row($0.element) }
        },
        list("friends of 0", { text($0) }, { try human($0, 0).friends }) { state in
            state.humans[0]!.friends.map { element in
                Row(id: element.id, stamp: element.stamp, text: row(state.humans[element.value]!).text)
            }
        },
        list("tags of 1", { $0 }, { try human($0, 1).tags }) { state in
            state.humans[1]!.tags.map { Row(id: $0.id, stamp: $0.stamp, text: $0.value) }
        },
    ]
}

/// Watches one query and checks each callback as it comes. Used on its connection's scheduler.
private final class LinkChecker: @unchecked Sendable {
    let query: LinkQuery
    private let history: Watched<[UInt64: LinkState]>
    private var shown: [Row] = []
    private var version: UInt64?
    let violations = Watched<[String]>([])
    private(set) var token: NotificationToken?

    init(_ query: LinkQuery, _ history: Watched<[UInt64: LinkState]>) {
        self.query = query
        self.history = history
    }

    func start(_ connection: Connection) throws {
        token = try query.observe(connection) { [unowned self, unowned connection] change in
            guard violations.value.isEmpty else { return }
            switch change {
            case .initial(let texts):
                if version != nil { violate("a second initial callback") }
                move(connection.version, texts, nil)
            case .update(let texts, let changes):
                if version == nil { violate("an update before the initial callback") }
                move(connection.version, texts, changes)
            case .error(let error): violate("\(error)")
            }
        }
    }

    func stop() { token?.invalidate() }

    /// Checks what is shown without a callback.
    func checkShown(_ connection: Connection, _ state: LinkState) throws {
        let texts = try query.show(connection)
        let expected = query.evaluate(state).map(\.text)
        if texts != expected { violate("shows \(texts) at rest, should show \(expected)") }
    }

    private func violate(_ what: String) { violations.update { $0.append("\(query.name): \(what)") } }

    private func move(_ newVersion: UInt64, _ texts: [String], _ changes: ChangeSet?) {
        if let version, newVersion <= version { violate("version \(newVersion) after \(version)") }
        guard let state = history.value[newVersion] else { return violate("version \(newVersion) is unknown") }
        let expected = query.evaluate(state)
        if texts != expected.map(\.text) {
            violate("shows \(texts) at version \(newVersion), should show \(expected.map(\.text))")
        }
        if let changes { check(changes, to: expected, newVersion) }
        shown = expected
        version = newVersion
    }

    private func check(_ changes: ChangeSet, to expected: [Row], _ newVersion: UInt64) {
        if changes.isEmpty { violate("an empty change set") }
        var replayed = shown
        for index in changes.deletions.reversed() {
            guard index < replayed.count else { return violate("deletion out of \(shown.count) rows") }
            replayed.remove(at: index)
        }
        for index in changes.insertions {
            guard index <= replayed.count, index < expected.count else { return violate("insertion at \(index)") }
            replayed.insert(expected[index], at: index)
        }
        if replayed.map(\.id) != expected.map(\.id) { violate("\(changes) does not lead from \(shown) to \(expected)") }
        let old = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0) })
        let inserted = Set(changes.insertions)
        let changed = expected.indices.filter { index in
            old[expected[index].id].map { $0.stamp != expected[index].stamp } ?? false
        }
        let modified = changed.filter { !inserted.contains($0) }
        // A row that left and came back between two deliveries is a modification even to a shallow observer.
        let isRight =
            query.isShallow
            ? Set(changes.modificationsNew).isSubset(of: modified) : changes.modificationsNew == modified
        if !isRight {
            violate("version \(newVersion): modifications \(changes.modificationsNew), should be \(modified)")
        }
        for index in inserted where old[expected[index].id] != nil && !changed.contains(index) {
            violate("row \(index), which nobody wrote, is reported as moved")
        }
    }
}

@Suite("Random histories of links and lists")
struct LinkHistoryTests {
    @Test("observers are led from state to state, over links too", arguments: 0..<6)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        // Used by one thread at a time: the others wait meanwhile.
        nonisolated(unsafe) var random = SeededRandom(seed: seed)
        let test = try TestStore([Human.self, Dog.self], durability: round % 2 == 0 ? .memory : .relaxed)
        let history = Watched<[UInt64: LinkState]>([:])
        nonisolated(unsafe) var model = LinkModel()
        try test.store.write { connection in
            try model.start(connection, version: connection.version + 1)
            let state = model.state
            history.update { $0[connection.version + 1] = state }
        }
        let thread = RunLoopThread("links")
        let queue = DispatchQueue(label: "links")
        let onThread = LinkQuery.all.map { LinkChecker($0, history) }
        let onQueue = LinkQuery.all.map { LinkChecker($0, history) }
        let late = LinkQuery.all.map { LinkChecker($0, history) }
        nonisolated(unsafe) var onLoop: Connection?
        nonisolated(unsafe) var onOther: Connection?
        defer {
            try? thread.performAndWait {
                for checker in onThread + late { checker.stop() }
                onLoop = nil
            }
            queue.sync {
                for checker in onQueue { checker.stop() }
                onOther = nil
            }
            thread.stop()
        }
        try thread.performAndWait {
            onLoop = try test.store.connect(on: .runLoop)
            for checker in onThread { try checker.start(onLoop!) }
        }
        try queue.sync {
            onOther = try test.store.connect(on: .queue(queue))
            for checker in onQueue { try checker.start(onOther!) }
        }

        for commit in 0..<80 {
            if commit == 40 { try thread.performAndWait { for checker in late { try checker.start(onLoop!) } } }
            @Sendable func change(_ connection: Connection) throws {
                let version = connection.version + 1
                try model.change(connection, version: version, &random)
                let state = model.state
                history.update { $0[version] = state }
            }
            if random.oneIn(4) {
                try thread.performAndWait {
                    _ = try onLoop!.refresh()
                    for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                    try onLoop!.write {
                        try change(onLoop!)
                        for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                    }
                    for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                }
            } else {
                try test.store.write { try change($0) }
            }
            if random.oneIn(6) { try thread.performAndWait {} }
        }
        try thread.performAndWait { _ = try onLoop!.refresh() }
        try queue.sync { _ = try onOther!.refresh() }
        let state = model.state
        try thread.performAndWait { for checker in onThread + late { try checker.checkShown(onLoop!, state) } }
        try queue.sync { for checker in onQueue { try checker.checkShown(onOther!, state) } }
        for checker in onThread + onQueue + late {
            let violations = checker.violations.value
            #expect(violations.isEmpty, "TIDEGAUGE_SEED=\(seed) round \(round): \(violations.first ?? "")")
        }
    }
}
