// Limited, distinct and sectioned results whose filter leads over links: what upkeep keeps is what a fresh evaluation
// finds, and change sets lead from one to the next.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Derived collections over links")
struct DerivedLinkTests {
    private static let queries: [String] = [
        "owner.age > 20 SORT(breed) LIMIT(3)",
        "owner.age > 20 OR owner == NULL SORT(breed DESC) DISTINCT(breed)",
        "owner.friends.@count > 0 SORT(id DESC) DISTINCT(breed) LIMIT(4)",
        "ANY owner.friends.age > 30 LIMIT(2)",
    ]

    @Test("are kept true as what they lead to changes", arguments: 0..<10)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore([Human.self, Dog.self], durability: .memory)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var replayed = [[ObjectID]](repeating: [], count: Self.queries.count)
        var sectioned: [[ObjectID]] = []
        var initials = 0
        var tokens: [NotificationToken] = []
        defer { for token in tokens { token.invalidate() } }
        for (index, text) in Self.queries.enumerated() {
            let results = try connection.objects(Dog.self, text)
            tokens.append(
                try results.observe { change in
                    switch change {
                    case .initial(let dogs):
                        replayed[index] = dogs.objectIDs
                        initials += 1
                    case .update(let dogs, let changes):
                        let new = dogs.objectIDs
                        #expect(ChangeSetReplay.apply(changes, to: &replayed[index], id: { $0 }) { new[$0] } == nil)
                    case .error(let error): Issue.record("\(error)")
                    }
                })
        }
        let sections = try connection.objects(Dog.self, "owner.age > 10 SORT(id DESC)")
            .sectioned(by: \.breed) { $0.map { String($0.prefix(1)) } }
        tokens.append(
            try sections.observe { change in
                switch change {
                case .initial(let sections):
                    sectioned = sections.map(\.objectIDs)
                    initials += 1
                case .update(let sections, let changes):
                    let new = sections.map(\.objectIDs)
                    let problem = ChangeSetReplay.apply(ToldChanges(changes), to: &sectioned, id: { $0 }) {
                        new[$0.section][$0.row]
                    }
                    #expect(problem == nil)
                case .error(let error): Issue.record("\(error)")
                }
            })
        try scheduler.turn { initials == tokens.count }
        for step in 0..<60 {
            for _ in 0...random.below(3) { try test.store.write { try Self.change($0, &random) } }
            try connection.refresh()
            try test.store.read { fresh in
                for (index, text) in Self.queries.enumerated() {
                    let expected = try fresh.objects(Dog.self, text).objectIDs
                    #expect(replayed[index] == expected, "\(text), step \(step), TIDEGAUGE_SEED=\(seed)")
                }
                let expected = try fresh.objects(Dog.self, "owner.age > 10 SORT(id DESC)")
                    .sectioned(by: \.breed) { $0.map { String($0.prefix(1)) } }
                #expect(sectioned == expected.map(\.objectIDs), "sections, step \(step), TIDEGAUGE_SEED=\(seed)")
            }
        }
    }

    private static func change(_ connection: Connection, _ random: inout SeededRandom) throws {
        let humans = Array(try connection.objects(Human.self))
        let dogs = Array(try connection.objects(Dog.self))
        let human = humans.randomElement(using: &random)
        switch random.below(9) {
        case 0, 1: try connection.add(Human((humans.map(\.id).max() ?? 0) + 1, age: random.below(50)))
        case 2, 3:
            let breed = ["a", "ab", "b", nil][random.below(4)]
            try connection.add(Dog((dogs.map(\.id).max() ?? 0) + 1, owner: human, breed: breed))
        case 4: human?.age = random.below(50)
        case 5: if let human, let friend = humans.randomElement(using: &random) { human.friends.append(friend) }
        case 6: dogs.randomElement(using: &random)?.owner = random.oneIn(4) ? nil : human
        case 7: dogs.randomElement(using: &random)?.breed = ["a", "ab", "b", nil][random.below(4)]
        default:
            if random.oneIn(2) {
                try human.map { try connection.delete($0) }
            } else {
                try dogs.randomElement(using: &random).map { try connection.delete($0) }
            }
        }
    }
}
