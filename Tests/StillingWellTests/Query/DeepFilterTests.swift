import Foundation
import Testing

@testable import StillingWell

@Suite("Long and deep filters")
struct DeepFilterTests {
    private static let length = 30_000

    /// Runs `body` with notes 0 ..< 10, whose scores equal their numbers.
    private static func withNotes(_ body: (Results<Note>, Connection) throws -> Void) throws {
        let test = try TestStore(durability: .memory)
        try test.store.write { connection in for id in 0..<10 { try connection.add(Note(id: id, score: id)) } }
        try test.store.read { try body($0.objects(Note.self), $0) }
    }

    /// Runs `body` on a thread of a queue, whose stack is small.
    private static func onSmallStack(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "small stack").async { done.resume(with: Result { try body() }) }
        }
    }

    @Test("a chain of alternatives is read, written as text, and equal to another one")
    func alternatives() async throws {
        try await Self.onSmallStack {
            try Self.withNotes { notes, _ in
                func chain() -> Filter<Note> {
                    var filter: Filter<Note> = \.score == 3
                    for number in 1..<Self.length { filter = filter || \.score == -number }
                    return filter || \.score == 5
                }
                let (first, second) = (chain(), chain())
                #expect(notes.where(first).map(\.id) == [3, 5])
                #expect(first.expression == second.expression)
                #expect(first.expression.hashValue == second.expression.hashValue)
                #expect(notes.where(first).query === notes.where(second).query)
                let text = "\(first)"
                #expect(text.count { $0 == "=" } == 2 * (Self.length + 1))
                let read = try notes.where("score == 3" + String(repeating: " OR score == -1", count: Self.length))
                #expect(read.count == 1)
            }
        }
    }

    @Test("chains of conditions, of negations and of where are read")
    func chains() async throws {
        try await Self.onSmallStack {
            try Self.withNotes { notes, _ in
                var all: Filter<Note> = \.score > 3
                var odd: Filter<Note> = \.score == 4
                var results = notes.where(\.score < 8)
                for number in 0..<Self.length {
                    all = all && \.score != 10 + number
                    odd = !odd
                    results = results.where(\.score != 10 + number)
                }
                #expect(notes.where(all).map(\.id) == [4, 5, 6, 7, 8, 9])
                #expect(notes.where(odd).map(\.id) == [4])
                #expect(results.map(\.id) == [0, 1, 2, 3, 4, 5, 6, 7])
                #expect(results.where(!odd).count == 7)
            }
        }
    }

    @Test("alternately nested conditions are read, written, hashed and released", arguments: [false, true])
    func nested(_ isNegated: Bool) async throws {
        try await Self.onSmallStack {
            try Self.withNotes { notes, _ in
                func nest() -> Filter<Note> {
                    var filter: Filter<Note> = \.score == 7
                    for number in 0..<Self.length {
                        let other: Filter<Note> = \.score == -number - 1
                        filter = isNegated ? !(filter || other) : (filter && \.score != -number - 1) || other
                    }
                    return filter
                }
                let (first, second) = (nest(), nest())
                #expect(notes.where(first).map(\.id) == [7])
                #expect(first.expression == second.expression && Set([first.expression, second.expression]).count == 1)
                let text = "\(first)"
                #expect(text.count { $0 == "(" } == text.count { $0 == ")" })
                #expect(!notes.where(first).asOneSection.identity.isEmpty)
            }
        }
    }

    @Test("a deep filter is observed like any other")
    func observed() throws {
        let test = try TestStore()
        let feed = try Feed(test.store)
        var filter: Filter<Note> = \.score == 7
        for number in 0..<10_000 { filter = !(filter || \.score == -number - 1) }
        try feed.observe("deep", feed.connection.objects(Note.self).where(filter))
        try feed.catchUp()
        try test.store.write { try $0.add(Note(id: 1, score: 7)) }
        try feed.catchUp()
        #expect(try feed.connection.objects(Note.self).where(filter).map(\.id) == [1])
    }

    @Test("conditions on what links lead to may be nested up to a limit; deeper ones are refused with an error")
    func links() async throws {
        try await Self.onSmallStack {
            let test = try TestStore([Human.self, Dog.self], durability: .memory)
            try test.write { connection in
                let ada = Human(1, "Ada")
                ada.friends.append(ada)
                try connection.add(ada)
            }
            let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
            let humans = try connection.objects(Human.self)
            func nested(_ depth: Int) -> Filter<Human> {
                var filter: Filter<Human> = \.name == "Ada"
                for _ in 0..<depth { filter = .any(\.friends, filter) }
                return filter
            }
            #expect(humans.where(nested(90)).count == 1)
            let text = refusal { _ = try humans.where(nested(Self.length)).observe { _ in } }
            #expect(text.contains("30000"), "\(text)")
        }
    }

    @Test(
        "a text that nests too deep is refused at its place",
        arguments: ["(", "NOT (", "! (", "score == 1 OR ("])
    func texts(_ opening: String) async throws {
        try await Self.onSmallStack {
            try Self.withNotes { notes, _ in
                let text = String(repeating: opening, count: Self.length) + "score == 1"
                #expect(refusal { _ = try notes.where(text) }.contains("nested deeper"))
            }
        }
    }

    @Test("a long text without nesting is read")
    func longTexts() async throws {
        try await Self.onSmallStack {
            try Self.withNotes { notes, _ in
                let even = try notes.where(String(repeating: "NOT ", count: Self.length) + "score == 1")
                let odd = try notes.where(String(repeating: "! ", count: Self.length + 1) + "score == 1")
                let all = try notes.where(String(repeating: "(score == 1) AND ", count: Self.length) + "score == 1")
                #expect(even.count == 1 && odd.count == 9 && all.count == 1)
            }
        }
    }
}
