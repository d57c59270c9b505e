// Random writes of mapped values, compared with plain Swift values.
import Foundation
import StillingWell
import StillingWellSeededRandom
import Testing

/// Some properties of a `Painting`, without a store.
private struct Plain: Equatable {
    var place: Place
    var mood = Mood.calm
    var second: Mood?
    var frame: Colour?
    var small: Int8 = 0
    var count: UInt32?
    var ratio: Float = 0
    var moods: [Mood] = []

    init(_ number: Int) { place = Place(number, -number) }

    init(_ painting: Painting) {
        place = painting.place
        (mood, second, frame) = (painting.mood, painting.second, painting.frame)
        (small, count, ratio) = (painting.small, painting.count, painting.ratio)
        moods = Array(painting.moods)
    }

    mutating func change(_ random: inout SeededRandom) {
        switch random.below(7) {
        case 0: mood = Mood.allCases.randomElement(using: &random) ?? .calm
        case 1: second = random.oneIn(3) ? nil : Mood.allCases.randomElement(using: &random)
        case 2: frame = random.oneIn(3) ? nil : [.red, .green, .blue].randomElement(using: &random)
        case 3: small = .random(in: .min ... .max, using: &random)
        case 4: count = random.oneIn(3) ? nil : .random(in: .min ... .max, using: &random)
        // Whole numbers, whose sum does not depend on the order.
        case 5: ratio = Float(random.below(2_000) - 1_000)
        default: moods = (0..<random.below(4)).map { _ in Mood.allCases.randomElement(using: &random) ?? .calm }
        }
    }

    func set(_ painting: Painting) {
        (painting.mood, painting.second, painting.frame) = (mood, second, frame)
        (painting.small, painting.count, painting.ratio) = (small, count, ratio)
        painting.moods.removeAll()
        painting.moods.append(contentsOf: moods)
    }

    /// Values for a dictionary that creates an object, with some of them in their stored form.
    func values(_ random: inout SeededRandom) -> [String: Any] {
        let isStored = random.oneIn(2)
        return [
            "place": isStored ? place.stored as Any : place, "mood": isStored ? mood.rawValue as Any : mood,
            "second": second.map { isStored ? $0.rawValue as Any : $0 } ?? NSNull(),
            "frame": frame.map { isStored ? $0.rawValue as Any : $0 } ?? NSNull(),
            "small": isStored ? Int(small) as Any : small, "count": count.map { $0 as Any } ?? NSNull(),
            "ratio": isStored ? Double(ratio) as Any : ratio,
            "moods": moods.map { isStored ? $0.rawValue as Any : $0 },
        ]
    }
}

@Suite("Histories of mapped values")
struct MappedHistoryTests {
    private static let numbers = 12

    @Test("equal a model of plain Swift values", arguments: 0..<6)
    func history(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let file = SchemaFile()
        var open: Store? = try file.open(Painting.self)
        var model: [Int: Plain] = [:]
        for step in 0..<60 {
            let before = model
            let isTakenBack = random.oneIn(8)
            struct Back: Error {}
            do {
                try #require(open).write { connection in
                    for _ in 0...random.below(4) { try write(connection, &model, &random) }
                    try check(connection, model, seed, step)
                    if isTakenBack { throw Back() }
                }
            } catch is Back {
                model = before
            }
            if random.oneIn(10) {
                // Closes the store before it is opened again.
                open = nil
                open = try file.open(Painting.self)
            }
            try #require(open).read { try check($0, model, seed, step) }
        }
    }

    private func write(_ connection: Connection, _ model: inout [Int: Plain], _ random: inout SeededRandom) throws {
        let number = random.below(Self.numbers)
        let known = try connection.object(Painting.self, forPrimaryKey: Place(number, -number))
        #expect((known == nil) == (model[number] == nil))
        var plain = model[number] ?? Plain(number)
        plain.change(&random)
        switch random.below(6) {
        case 0 where known != nil:
            if let known { try connection.delete(known) }
            model[number] = nil
            return
        case 1 where random.oneIn(3):
            let gone = Mood.allCases.randomElement(using: &random) ?? .calm
            try connection.delete(connection.objects(Painting.self).where(\.mood == gone))
            model = model.filter { $0.value.mood != gone }
            return
        case 2:
            try connection.create(Painting.self, value: plain.values(&random), update: .modified)
        case 3:
            let painting = Painting()
            painting.place = plain.place
            plain.set(painting)
            try connection.add(painting, update: random.oneIn(2) ? .all : .modified)
        default:
            let painting = try known ?? connection.create(Painting.self, value: ["place": plain.place])
            plain.set(painting)
        }
        model[number] = plain
    }

    private func check(_ connection: Connection, _ model: [Int: Plain], _ seed: UInt64, _ step: Int) throws {
        let note = Comment(rawValue: "TIDEGAUGE_SEED=\(seed), step \(step)")
        let paintings = try connection.objects(Painting.self)
        let plains = Array(model.values)
        func found(_ filter: Filter<Painting>, _ holds: (Plain) -> Bool) {
            let expected = Set(plains.filter(holds).map(\.place))
            #expect(Set(paintings.where(filter).map(\.place)) == expected, note)
            #expect(paintings.where(filter).count == expected.count, note)
        }
        func sorted(_ plains: [Plain]) -> [Plain] { plains.sorted { $0.place.x < $1.place.x } }
        #expect(sorted(paintings.map(Plain.init)) == sorted(plains), note)
        found(\.mood == .glad) { $0.mood == .glad }
        found(\.mood >= .glad) { $0.mood >= .glad }
        found(\.second == nil) { $0.second == nil }
        found(\.frame == .green) { $0.frame == .green }
        found(\.small < 0 && \.ratio >= 0) { $0.small < 0 && $0.ratio >= 0 }
        found(\.count > 1 << 31) { ($0.count ?? 0) > 1 << 31 }
        found((\Painting.mood).in([.calm, .wild])) { $0.mood != .glad }
        found((\Painting.moods).contains(.wild)) { $0.moods.contains(.wild) }
        #expect(paintings.sorted(by: \.small).map(\.small) == plains.map(\.small).sorted(), note)
        #expect(
            paintings.sorted(by: \.mood).distinct(by: [\.mood]).map(\.mood) == Set(plains.map(\.mood)).sorted(), note)
        #expect(paintings.sum(\.small) == plains.reduce(0) { $0 + Int($1.small) }, note)
        #expect(paintings.sum(\.count) == plains.reduce(0) { $0 + Int($1.count ?? 0) }, note)
        #expect(paintings.sum(\.ratio) == plains.reduce(0) { $0 + Double($1.ratio) }, note)
        #expect(paintings.max(\.small) == plains.map(\.small).max(), note)
        #expect(paintings.min(\.count) == plains.compactMap(\.count).min(), note)
    }
}
