// Rule 10. Everything that a connection shows advances in one step, before any callback. (Realm delivers each
// background query when it is ready.)
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import Testing

@Suite("Rule 10: all queries of a connection have one version in every callback")
struct Rule10OneVersionTests {
    /// Views whose counts agree at every version. In a mixture of two versions they usually differ.
    private final class Views: @unchecked Sendable {
        let connection: Connection
        private let all: Results<Note>
        private let parts: [Results<Note>]
        private let unobserved: Results<Note>
        private let limited: Results<Note>
        private let sections: SectionedResults<Int?, Note>
        private let counter: Human
        private let dogs: Results<Dog>
        private var tokens: [NotificationToken] = []
        let violations = Watched<[String]>([])
        let versions = Watched<[UInt64]>([])

        init(_ connection: Connection) throws {
            self.connection = connection
            all = try connection.objects(Note.self)
            parts = [all.where(\.done == true).sorted(by: \.score), all.where(\.done == false).sorted(by: \.title)]
            unobserved = all.where(\.score >= 0)
            limited = all.sorted(by: \.score, ascending: false).limited(to: 1)
            sections = all.sectioned(by: \.group)
            counter = try #require(try connection.object(Human.self, forPrimaryKey: 0))
            dogs = try connection.objects(Dog.self)
        }

        func observe() throws {
            tokens = [
                try all.observe { [unowned self] _ in check("all") },
                try parts[0].observe { [unowned self] _ in check("done") },
                try parts[1].observe { [unowned self] _ in check("not done") },
                try limited.observe { [unowned self] _ in check("limited") },
                try sections.observe { [unowned self] _ in check("sections") },
                try counter.tags.observe { [unowned self] _ in check("list") },
                try dogs.observe { [unowned self] _ in check("dogs") },
                try counter.observe { [unowned self] _ in check("object") },
                try connection.observe { [unowned self] _, _ in check("store") },
            ]
        }

        /// Observes one more query while commits go on.
        func observeMore() throws {
            tokens.append(try unobserved.sorted(by: \.id).observe { [unowned self] _ in check("late") })
        }

        func end() {
            for token in tokens { token.invalidate() }
            tokens = []
        }

        private func check(_ who: String) {
            let count = all.count
            // Each commit writes the counter, which is in another table.
            let counts = [
                "parts": parts.reduce(0) { $0 + $1.count }, "unobserved": unobserved.count,
                "sections": sections.objectCount, "list": counter.tags.count, "counter": counter.age,
                "dogs": dogs.count, "properties": all.reduce(0) { $0 + ($1.title == "kept" ? 1 : 0) },
                "highest": (limited.first?.score ?? -1) + 1,
                "found": (0..<count).reduce(0) { found, id in
                    found + ((try? connection.object(Note.self, forPrimaryKey: id)) != nil ? 1 : 0)
                },
            ]
            let wrong = counts.filter { $0.value != count }
            if !wrong.isEmpty { violations.update { $0.append("\(who): \(count) notes, but \(wrong)") } }
            versions.update { $0.append(connection.version) }
        }
    }

    /// One consistent step: inserts or deletes one note, one dog and one tag, and changes other notes.
    private static func step(_ connection: Connection, _ random: inout SeededRandom) throws {
        let counter = try #require(try connection.object(Human.self, forPrimaryKey: 0))
        let count = counter.age
        if count == 0 || count < 30 && !random.oneIn(3) {
            let note = Note(id: count, score: count, title: "kept", group: count % 3)
            note.done = random.oneIn(2)
            try connection.add(note)
            try connection.add(Dog(count))
            counter.tags.append("\(count)")
            counter.age = count + 1
        } else {
            try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: count - 1)))
            try connection.delete(try #require(try connection.object(Dog.self, forPrimaryKey: count - 1)))
            counter.tags.remove(at: random.below(count))
            counter.age = count - 1
        }
        for _ in 0..<3 {
            guard let note = try connection.object(Note.self, forPrimaryKey: random.below(30)) else { continue }
            note.done.toggle()
            note.group = random.oneIn(4) ? nil : random.below(3)
        }
    }

    @Test(
        "each callback reads one version, while others commit and subscribe", arguments: [true, false])
    func balance(_ isBusy: Bool) throws {
        let test = try TestStore([Note.self, Human.self, Dog.self], durability: .memory)
        try test.store.write { try $0.add(Human(0)) }
        let thread = RunLoopThread("views")
        defer { thread.stop() }
        nonisolated(unsafe) var views: Views!
        try thread.performAndWait {
            views = try Views(try test.store.connect(on: .runLoop))
            try views.observe()
        }
        let seen = views.versions
        let violations = views.violations
        try seen.wait("initial callbacks") { $0.count >= 7 }
        let seed = SeededRandom.base &+ (isBusy ? 0 : 1)
        let writers = (0..<(isBusy ? 2 : 1)).map { writer in
            TracedThread("writer \(writer)") {
                var random = SeededRandom(seed: seed &+ UInt64(writer))
                do {
                    for _ in 0..<200 {
                        let version = try test.store.write { connection in
                            try Self.step(connection, &random)
                            return connection.version + 1
                        }
                        // One writer waits for each delivery. Two writers rely on coalescing.
                        if !isBusy { try seen.wait("version \(version)") { $0.last ?? 0 >= version } }
                    }
                } catch { Issue.record(error) }
            }
        }
        try thread.performAndWait { try views.observeMore() }
        // Beside two writers, the observing thread writes as well, between deliveries.
        try thread.performAndWait {
            var random = SeededRandom(seed: seed &+ 7)
            if isBusy { for _ in 0..<20 { try test.store.write { try Self.step($0, &random) } } }
        }
        for writer in writers { writer.join() }
        let last = try test.store.read { $0.version }
        try seen.wait("version \(last)") { $0.last ?? 0 >= last }
        #expect(violations.value.prefix(3).isEmpty, "TIDEGAUGE_SEED=\(seed): \(violations.value.prefix(3))")
        #expect(zip(seen.value, seen.value.dropFirst()).allSatisfy { $0 <= $1 }, "a version came after a newer one")
        try thread.performAndWait {
            views.end()
            views = nil
        }
    }

    @Test("a new query and one that waited are delivered at the version of all others")
    func firstEvaluations() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 0)) }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        var counts: [[Int]] = []
        let queries = (0..<5).map { notes.where(\.score >= -$0) }
        for query in queries {
            feed.keep(try query.observe { _ in counts.append(queries.map(\.count)) })
            try test.store.write { try $0.add(Note(id: 1 + counts.count * 10 + queries.count)) }
            try test.store.write { connection in
                try connection.add(Note(id: 1_000 + (try connection.objects(Note.self).count)))
            }
            try feed.scheduler.turn()
        }
        try feed.scheduler.turn { counts.count >= queries.count }
        for seen in counts { #expect(Set(seen).count == 1, "\(seen)") }
    }
}
