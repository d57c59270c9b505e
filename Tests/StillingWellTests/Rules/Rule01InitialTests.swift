// Rule 1. A collection's observer first receives the initial callback, once, and then changes. (The first notification
// of a Realm list can be `.update` if it comes after a change.)
import Foundation
import Testing

@testable import StillingWell

@Suite("Rule 1: the first callback of a collection is the initial one, exactly once")
struct Rule01InitialTests {
    struct Failure: Error {
        let told: [Told]
        init(_ told: [Told]) { self.told = told }
    }

    @Test("commits before the first delivery are in the initial callback, once")
    func initialOnce() throws {
        let test = try TestStore()
        let observer = try Observer(test.store)
        defer { observer.stop() }
        try observer.thread.performAndWait {
            // The run loop is blocked here, so nothing can be delivered before the commits.
            try observer.observe { $0.sorted(by: \.id) }
            for id in 0..<50 { try test.store.write { try $0.add(Note(id: id)) } }
        }
        let told = try observer.told.wait("the last note") { told in
            switch told.last {
            case .initial(let ids), .update(_, let ids): ids.count == 50
            default: false
            }
        }
        guard case .initial = told.first else { throw Failure(told) }
        #expect(told.dropFirst().allSatisfy { if case .update = $0 { true } else { false } })
    }

    @Test(
        "an initial callback between an own write and its delivery leaves that write to the next one", arguments: 0..<20
    )
    func initialAfterOwnWrite(_ round: Int) throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var isReady = false
        var count: Int?
        let first = try notes.observe { _ in isReady = true }
        try scheduler.turn { isReady }
        let second = try notes.observe { change in
            switch change {
            case .initial: count = notes.count
            case .update(_, let changes):
                count? += changes.insertions.count - changes.deletions.count
                #expect(count == notes.count)
            case .error(let error): Issue.record(error)
            }
        }
        try connection.write { try connection.add(Note(id: 1)) }
        #expect(notes.count == 1)
        try scheduler.turn { count == 1 }
        try connection.write { try connection.add(Note(id: 2)) }
        try scheduler.turn { count == 2 }
        for token in [first, second] { token.invalidate() }
    }

    @Test("a query that could not be evaluated says so once, and can be observed again")
    func failedEvaluation() throws {
        // Without polling, upkeep takes no reader by itself.
        let test = try TestStore(upkeepPollNs: nil)
        let storage = test.store.core.storage
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var readers: [SnapshotReader] = []
        while let reader = try? storage.takeReader() { readers.append(reader) }
        var errors: [StoreError] = []
        var initials = 0
        func observe() throws -> NotificationToken {
            try notes.observe { change in
                if case .error(let error) = change { errors.append(error) }
                if case .initial = change { initials += 1 }
            }
        }
        let first = try observe()
        try scheduler.turn { !errors.isEmpty }
        #expect(errors == [.tooManySnapshots(limit: 1_024)])
        for reader in readers { storage.recycle(reader) }
        let second = try observe()
        try scheduler.turn { initials > 0 }
        #expect(initials == 1 && errors.count == 1)
        for token in [first, second] { token.invalidate() }
    }

    /// Callbacks of observers of several kinds of collections: `initial` or `update`, by name.
    private final class Kinds {
        private(set) var told: [String: [String]] = [:]
        private var tokens: [NotificationToken] = []

        deinit { for token in tokens { token.invalidate() } }

        func observe(_ human: Human) throws {
            let connection = try #require(human.connection)
            let humans = try connection.objects(Human.self)
            let note = { [unowned self] (name: String, what: String) in told[name, default: []].append(what) }
            tokens = [
                try humans.observe {
                    note("results", $0.text.prefix { $0 != " " } == "initial" ? "initial" : "update")
                },
                try humans.where(\.age > 0).limited(to: 3).observe {
                    note("limited", $0.text.prefix { $0 != " " } == "initial" ? "initial" : "update")
                },
                try human.linkingObjects(\Human.boss).observe {
                    note("linking", $0.text.prefix { $0 != " " } == "initial" ? "initial" : "update")
                },
                try human.tags.observe {
                    if case .initial = $0 { note("values", "initial") } else { note("values", "update") }
                },
                try human.friends.observe {
                    if case .initial = $0 { note("list", "initial") } else { note("list", "update") }
                },
                try humans.sectioned(by: \.age).observe {
                    if case .initial = $0 { note("sections", "initial") } else { note("sections", "update") }
                },
            ]
        }

        static let names = Set(["results", "limited", "linking", "values", "list", "sections"])
    }

    /// Changes everything that `Kinds` observes.
    private func change(_ connection: Connection, _ round: Int) throws {
        let human = try #require(try connection.object(Human.self, forPrimaryKey: 1))
        human.age = 10 + round
        human.tags.append("tag \(round)")
        let friend = Human(100 + round, age: 1 + round)
        friend.boss = human
        try connection.add(friend)
        human.friends.insert(friend, at: 0)
    }

    @Test(
        "every kind of collection has one initial callback, also if there are writes before it",
        arguments: ["others", "the connection", "others, read in between", "silently", "without autorefresh"])
    func kinds(_ how: String) throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let human = Human(1, age: 5)
            human.tags = ["a"]
            human.friends = [Human(2, age: 2)]
            try connection.add(human)
        }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let human = try #require(try connection.object(Human.self, forPrimaryKey: 1))
        if how == "others, read in between" { #expect(human.tags.count == 1 && human.friends.count == 1) }
        let kinds = Kinds()
        try kinds.observe(human)
        #expect(kinds.told.isEmpty, "an observer was called from inside observe")
        switch how {
        case "the connection": try connection.write { try change(connection, 0) }
        case "silently":
            let token = try human.tags.observe { _ in }
            try test.store.write(withoutNotifying: [token]) { try change($0, 0) }
            token.invalidate()
        case "without autorefresh":
            connection.autorefresh = false
            try test.store.write { try change($0, 0) }
            try connection.refresh()
            connection.autorefresh = true
        default:
            try test.store.write { try change($0, 0) }
            if how == "others, read in between" { #expect(human.tags.count == 1) }
        }
        try scheduler.turn { kinds.told.count == Kinds.names.count }
        for (name, told) in kinds.told {
            #expect(told.first == "initial" && !told.dropFirst().contains("initial"), "\(name) was told \(told)")
        }
        let before = kinds.told.mapValues(\.count)
        try test.store.write { try change($0, 1) }
        try scheduler.turn { kinds.told.allSatisfy { $0.value.count > before[$0.key] ?? 0 } }
        for (name, told) in kinds.told {
            #expect(told.filter { $0 == "initial" }.count == 1 && told.last == "update", "\(name) was told \(told)")
        }
    }

    @Test("observers of objects and of the store have no initial call")
    func othersHaveNone() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let feed = try Feed(test.store)
        try feed.observe("object", try #require(try feed.connection.object(Note.self, forPrimaryKey: 1)))
        try feed.observeStore()
        try feed.observe("notes", try feed.connection.objects(Note.self))
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }
}
