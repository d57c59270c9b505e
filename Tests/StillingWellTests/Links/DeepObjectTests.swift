// Tests of long chains and cycles of objects. Adding and releasing a chain must not take stack in proportion to its
// length.
import Foundation
import Testing

@testable import StillingWell

@Suite("Long chains of objects")
struct DeepObjectTests {
    private static let length = 30_000

    private enum Way: CaseIterable {
        case links, lists, both
    }

    /// Makes a chain of plain objects. The head has number 0.
    private static func chain(_ way: Way) -> Human {
        var head = Human(length - 1)
        for id in (0..<(length - 1)).reversed() {
            let next = head
            head = Human(id)
            if way == .links || way == .both && id % 2 == 0 { head.boss = next } else { head.friends.append(next) }
        }
        return head
    }

    /// Runs `body` on a thread of a queue, whose stack is small.
    private static func onSmallStack(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "small stack").async { done.resume(with: Result { try body() }) }
        }
    }

    @Test("adding the head of a chain adds all of it", arguments: Way.allCases)
    private func adding(_ way: Way) async throws {
        try await Self.onSmallStack {
            let test = try TestStore([Human.self, Dog.self], durability: .memory)
            try test.write { try $0.add(Self.chain(way)) }
            try test.read { connection in
                let humans = try connection.objects(Human.self)
                #expect(humans.count == Self.length)
                for id in [0, 1, Self.length - 2] {
                    let human = try #require(try connection.object(Human.self, forPrimaryKey: id))
                    #expect((human.boss ?? human.friends.first)?.id == id + 1)
                }
            }
        }
    }

    @Test("setting a link to the head of a chain adds all of it")
    func linking() async throws {
        try await Self.onSmallStack {
            let test = try TestStore([Human.self, Dog.self], durability: .memory)
            try test.write { connection in
                let dog = Dog(1)
                try connection.add(dog)
                dog.owner = Self.chain(.both)
            }
            #expect(try test.read { try $0.objects(Human.self).count } == Self.length)
        }
    }

    @Test("a chain is released, whether it was added or not", arguments: Way.allCases)
    private func releasing(_ way: Way) async throws {
        try await Self.onSmallStack {
            weak var first: Human?
            weak var last: Human?
            do {
                let head = Self.chain(way)
                first = head
                last = head.boss ?? head.friends.first
            }
            #expect(first == nil && last == nil)
            // A chain that a cancelled write has added is released too.
            let test = try TestStore([Human.self, Dog.self], durability: .memory)
            struct Cancelled: Error {}
            #expect(throws: Cancelled.self) {
                try test.write { connection in
                    let head = Self.chain(way)
                    first = head
                    try connection.add(head)
                    throw Cancelled()
                }
            }
            #expect(first == nil)
        }
    }

    @Test("a chain whose end cannot be added is refused")
    func refused() async throws {
        try await Self.onSmallStack {
            let test = try TestStore([Human.self, Dog.self], durability: .memory)
            try test.write { try $0.add(Human(Self.length - 1)) }
            for way in [Way.links, .lists] {
                let text = refusal { try test.write { try $0.add(Self.chain(way)) } }
                #expect(text.contains("primary key"))
            }
            #expect(try test.read { try $0.objects(Human.self).count } == 1)
        }
    }

    @Test("objects on cycles of links and lists are added once")
    func cycles() throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let humans = (0..<50).map { Human($0) }
            for (id, human) in humans.enumerated() {
                human.boss = humans[(id + 7) % 50]
                human.friends.append(contentsOf: [humans[(id + 1) % 50], human, humans[(id + 1) % 50]])
            }
            try connection.add(humans[3])
        }
        try test.store.read { connection in
            #expect(try connection.objects(Human.self).count == 50)
            for human in try connection.objects(Human.self) {
                #expect(human.boss?.id == (human.id + 7) % 50)
                #expect(human.friends.map(\.id) == [(human.id + 1) % 50, human.id, (human.id + 1) % 50])
            }
        }
    }

    @Test("a list is appended to itself, plain or stored")
    func appendedToItself() throws {
        let human = Human(1)
        human.tags.append(contentsOf: ["a", "b"])
        human.tags.append(contentsOf: human.tags)
        human.friends.append(human)
        human.friends.append(contentsOf: human.friends)
        human.tags.append(contentsOf: human.tags.lazy.map { $0 + "!" })
        #expect(Array(human.tags) == ["a", "b", "a", "b", "a!", "b!", "a!", "b!"])
        #expect(human.friends.count == 2)
        human.tags = human.tags
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            try connection.add(human)
            human.tags.append(contentsOf: human.tags)
            #expect(human.tags.count == 16 && human.friends.count == 2)
        }
    }
}
