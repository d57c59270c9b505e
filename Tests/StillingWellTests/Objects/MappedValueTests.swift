// Tests of properties whose types are stored as other types.
import Foundation
import Testing

@testable import StillingWell

/// The class as another program declares it, without mapped types.
private enum Raw {
    final class Painting: StoredObject {
        @Stored(.primaryKey) var place = ""
        @Stored(.indexed) var mood = 0
        @Stored var colour = ""
        @Stored var small = 0
        @Stored var ratio = 0.0
        @Stored var answer = ""
        @Listed var moods: List<Int>
    }
}

private enum Mapped {
    final class Painting: StoredObject {
        @Stored(.primaryKey) var place = Place(0, 0)
        @Stored(.indexed) var mood = Mood.calm
        @Stored var colour = Colour.red
        @Stored var small: Int8 = 0
        @Stored var ratio: Float = 0
        @Stored var answer = Answer.no
        @Listed var moods: List<Mood>
    }
}

@Suite("Mapped values")
struct MappedValueTests {
    /// Makes paintings at 0 to 5. Moods are calm, glad, wild in turn, and colours red, green, blue in turn.
    private func store() throws -> TestStore {
        let test = try TestStore([Painting.self])
        try test.store.write { connection in
            for x in 0..<6 {
                let painting = Painting(x, Mood.allCases[x % 3], [.red, .green, .blue][x % 3])
                painting.second = x < 3 ? nil : .glad
                painting.frame = x == 0 ? nil : .green
                painting.day = Day(10 - x)
                painting.small = Int8(x * 20 - 50)
                painting.ratio = Float(x) / 3
                painting.count = x == 5 ? nil : UInt32(x)
                try connection.add(painting)
            }
        }
        return test
    }

    private func read<Result>(_ test: TestStore, _ body: (Results<Painting>) throws -> Result) throws -> Result {
        try test.store.read { try body($0.objects(Painting.self).sorted(by: \.place)) }
    }

    // MARK: Values

    @Test("are read as they were set, and are stored as what they are mapped to")
    func roundTrip() throws {
        let test = try store()
        try test.store.write { connection in
            let painting = try #require(try connection.object(Painting.self, forPrimaryKey: Place(1, 0)))
            #expect(painting.mood == .glad && painting.colour == .green && painting.second == nil)
            painting.second = .wild
            painting.frame = nil
            painting.answer = .yes
            painting.mood = .wild
            #expect(painting.second == .wild && painting.frame == nil && painting.mood == .wild)
        }
        try test.store.read { connection in
            let painting = try #require(try connection.object(Painting.self, forPrimaryKey: Place(1, 0)))
            #expect(painting.second == .wild && painting.frame == nil && painting.answer == .yes)
            #expect(painting.place == Place(1, 0) && painting.day == Day(9))
            let table = try connection.core.storage.table(of: Painting.self).schema
            #expect(table.columns[0...3].map(\.type) == [.string, .int, .int, .string])
            #expect(table.columns[2].isOptional && table.columns[5].type == .date)
        }
    }

    @Test("numbers are read as they were set, also at the ends of their ranges")
    func numbers() throws {
        let test = try store()
        try test.store.write { connection in
            let painting = try connection.objects(Painting.self)[0]
            for value in [Int8.min, -1, 0, .max] {
                painting.small = value
                #expect(painting.small == value)
            }
            for value in [Int64.min, -1, 0, .max] {
                painting.wide = value
                #expect(painting.wide == value)
            }
            for value in [UInt32.min, 1 << 31, .max] {
                painting.count = value
                #expect(painting.count == value)
            }
            for value in [
                -Float.infinity, -.greatestFiniteMagnitude, -0.1, -0.0, .leastNonzeroMagnitude, .pi, .infinity,
            ] {
                painting.ratio = value
                #expect(painting.ratio.bitPattern == value.bitPattern)
            }
            painting.ratio = .nan
            #expect(painting.ratio.isNaN)
        }
    }

    // MARK: Queries

    @Test("filters on mapped values work over links and lists")
    func connected() throws {
        let test = try store()
        try test.store.write { connection in
            let paintings = try connection.objects(Painting.self)
            paintings[0].copyOf = paintings[1]
            paintings[2].copyOf = paintings[3]
            paintings[0].moods = [.wild, .calm, .wild]
            paintings[1].moods = [.glad]
            paintings[1].colours = [.red, nil]
            paintings[2].numbers = [.min, .max]
        }
        try read(test) { paintings throws in
            #expect(paintings.where(\.copyOf?.mood == .glad).map(\.place.x) == [0])
            #expect(paintings.where(\.copyOf?.frame == .green).map(\.place.x) == [0, 2])
            #expect(paintings.where((\Painting.moods).contains(.wild)).map(\.place.x) == [0])
            #expect(paintings.where((\Painting.colours).contains(nil)).map(\.place.x) == [1])
            #expect(Array(paintings[0].moods) == [.wild, .calm, .wild] && paintings[0].moods[1] == .calm)
            #expect(Array(paintings[1].colours) == [.red, nil] && Array(paintings[2].numbers) == [.min, .max])
            #expect(paintings[0].moods.index(of: .calm) == 1)
            #expect(paintings.sorted(by: \.copyOf?.mood, ascending: false).first?.place.x == 0)
        }
    }

    @Test("orders use the stored value, and sections have the mapped values as keys")
    func orders() throws {
        let test = try store()
        try read(test) { paintings throws in
            #expect(paintings.sorted(by: \.mood, ascending: false).map(\.place.x) == [2, 5, 1, 4, 0, 3])
            #expect(
                paintings.sorted(by: \.colour).map(\.colour.rawValue) == [
                    "blue", "blue", "green", "green", "red", "red",
                ])
            #expect(paintings.sorted(by: \.day).map(\.place.x) == [5, 4, 3, 2, 1, 0])
            #expect(paintings.sorted(by: \.mood).distinct(by: [\.mood]).map(\.mood) == [.calm, .glad, .wild])
            let sections = paintings.sectioned(by: \.colour)
            #expect(sections.keys == [.blue, .green, .red] && sections.map { $0.count } == [2, 2, 2])
            #expect(paintings.sectioned(by: \.second).keys == [nil, .glad])
            #expect(paintings.sectioned(by: \.mood) { $0 == .calm ? Colour.blue : .red }.keys == [.blue, .red])
        }
    }

    @Test("the text of a query has stored values, and takes mapped values as arguments")
    func text() throws {
        let test = try store()
        try read(test) { paintings throws in
            #expect(try paintings.where("mood == 7 AND colour == 'blue'").map(\.place.x) == [2, 5])
            #expect(try paintings.where("mood == $0 AND place != $1", Mood.wild, Place(2, 0)).map(\.place.x) == [5])
            #expect(try paintings.where("mood IN $0", [Mood.calm, .wild]).map(\.place.x) == [0, 2, 3, 5])
            #expect(try paintings.where("colour BEGINSWITH 'gr' SORT(day)").map(\.place.x) == [4, 1])
            #expect(try paintings.where("small < -5.5 AND ratio > $0", Float(0.5)).map(\.place.x) == [2])
            #expect("\((\Painting.mood == .glad) as Filter<Painting>)" == "mood == 1")
            #expect(
                refusal { _ = try paintings.where("mood == 'wild'") }.contains("is an integer, and cannot be compared"))
        }
    }

    @Test("identify objects as primary keys")
    func primaryKey() throws {
        let test = try store()
        try test.store.write { connection in
            #expect(throws: StoreError.duplicatePrimaryKey(table: "Painting", key: "'3,0'")) {
                try connection.add(Painting(3))
            }
            try connection.add(Painting(3, .wild), update: .modified)
            #expect(try connection.object(Painting.self, forPrimaryKey: Place(3, 0))?.mood == .wild)
            #expect(try connection.object(Painting.self, forPrimaryKey: "3,0")?.mood == .wild)
            #expect(try connection.object(Painting.self, forPrimaryKey: Place(3, 1)) == nil)
            #expect(throws: StoreError.otherKeyType(table: "Painting", type: "Int", expected: "String")) {
                try connection.object(Painting.self, forPrimaryKey: Mood.calm)
            }
        }
    }

    // MARK: Dictionaries

    @Test("objects are created from mapped values and from their stored values")
    func created() throws {
        let test = try store()
        try test.store.write { connection in
            let values: [String: Any] = [
                "place": "8,1", "mood": Mood.glad, "second": 7, "colour": "blue", "frame": NSNull(), "small": 5,
                "count": 6, "ratio": 0.5, "moods": [0, Mood.wild], "colours": ["red", NSNull()],
                "copyOf": ["place": Place(9, 9), "ratio": 2],
            ]
            let painting = try connection.create(Painting.self, value: values)
            #expect(painting.place == Place(8, 1) && painting.mood == .glad && painting.second == .wild)
            #expect(painting.colour == .blue && painting.frame == nil && painting.small == 5 && painting.count == 6)
            #expect(painting.ratio == 0.5 && painting.copyOf?.ratio == 2)
            #expect(Array(painting.moods) == [.calm, .wild] && Array(painting.colours) == [.red, nil])
        }
        for (name, value) in [("mood", 3), ("colour", "pink"), ("small", 128), ("place", "x"), ("moods", [1, 2])]
            as [(String, Any)]
        {
            let text = refusal { try test.store.write { _ = try $0.create(Painting.self, value: [name: value]) } }
            #expect(text.hasPrefix("Painting.\(name)") && text.contains("cannot be set"), "\(text)")
        }
    }

    // MARK: Observers

    @Test("are observed by key paths; changes have the stored value, observers of one property the mapped one")
    func observed() throws {
        let test = try store()
        let feed = try Feed(test.store)
        let paintings = try feed.connection.objects(Painting.self).where(\.mood != .wild).sorted(by: \.place)
        try feed.observe("moods", paintings, keyPaths: [\.mood])
        let first = try #require(try feed.connection.object(Painting.self, forPrimaryKey: Place(0, 0)))
        feed.keep(
            try first.observe(keyPaths: [\.mood, \.frame]) { change in
                guard case .change(_, let changes) = change else { return feed.note("gone") }
                feed.note(
                    changes.map { "\($0.name) \($0.oldValue.text) to \($0.newValue.text)" }.joined(separator: ", "))
            })
        feed.keep(
            try first.observe(\.frame, options: [.old, .new]) { _, update in
                // The values have the types of the property.
                let (old, new): (Colour??, Colour??) = (update.oldValue, update.newValue)
                feed.note("frame \(old == .some(nil) ? "none" : "some") to \(new == .some(.blue) ? "blue" : "other")")
            })
        try test.store.write { connection in
            let all = try connection.objects(Painting.self).sorted(by: \.place)
            all[0].mood = .glad
            all[0].frame = .blue
            all[1].mood = .wild
            all[3].colour = .green
        }
        try feed.catchUp()
        #expect(feed.takeLog().sorted() == ["frame none to blue", "mood 0 to 1, frame nil to 'blue'", "moods -1 ~0>0"])
    }

    // MARK: Values that the type does not have

    @Test("a stored value that the type does not have is an error of the block that reads it, and names the property")
    func unknown() throws {
        let test = try store()
        try test.store.write { connection in
            let painting = try connection.objects(Painting.self)[0]
            painting.even = Even(3)
            painting.evens = Even(5)
            painting.pairs = [Even(2), Even(7)]
        }
        func error(_ property: String, _ value: Int) -> StoreError {
            .unknownValue(property: property, type: "Even", value: "\(value)")
        }
        let bodies: [((Painting) -> Void, StoreError)] = [
            ({ #expect($0.even == Even(0), "the default") }, error("Painting.even", 3)),
            ({ #expect($0.evens == nil) }, error("Painting.evens", 5)),
            ({ #expect(Array($0.pairs) == [Even(2), Even(0)]) }, error("Painting.pairs", 7)),
            ({ #expect($0.pairs[1] == Even(0)) }, error("Painting.pairs", 7)),
        ]
        for (body, expected) in bodies {
            #expect(throws: expected) { try test.store.read { try body($0.objects(Painting.self)[0]) } }
            #expect(throws: expected) {
                try test.store.write { connection in
                    try connection.objects(Painting.self)[1].mood = .wild
                    try body(connection.objects(Painting.self)[0])
                }
            }
        }
        try test.store.read { connection in
            let paintings = try connection.objects(Painting.self)
            #expect(paintings[1].mood == .glad, "a failed block has not set the mood")
            #expect(paintings[0].mood == .calm && paintings.where(\.even == Even(3)).count == 1, "others are readable")
        }
    }

    @Test(
        "outside of a block, an unknown stored value ends the process, and so does a key path to a part of a value",
        arguments: [
            ("unknownValue", "Fatal error: Shelf.size is stored as 3, which no Even is"),
            ("partOfValue", "is not a stored property, but something computed from 'size'; compare that one"),
        ])
    func misuse(_ kind: String, _ message: String) async throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["misuse", kind])
        let output = try await process.output.reached("the end") { $0.isOver }
        #expect(output.lines.contains { $0.contains(message) }, "\(output.lines)")
    }

    @Test("a class changes to mapped types without a migration, and reads the values that it knows")
    func adopted() throws {
        let file = SchemaFile()
        try file.open(Raw.Painting.self).write { connection in
            for (index, mood) in [0, 7, 8].enumerated() {
                let painting = Raw.Painting()
                (painting.place, painting.mood, painting.colour) = ("\(index),0", mood, "green")
                (painting.small, painting.ratio, painting.answer) = (100 * index, 0.1, "maybe")
                painting.moods = [1, 7 + index]
                try connection.add(painting)
            }
        }
        let store = try file.open(Mapped.Painting.self)
        try store.read { connection in
            let paintings = try connection.objects(Mapped.Painting.self)
            #expect(paintings[0].mood == .calm && paintings[1].mood == .wild && paintings[1].small == 100)
            #expect(paintings[0].ratio == 0.1 && Array(paintings[0].moods) == [.glad, .wild])
            #expect(
                paintings.allSatisfy { $0.answer == .other }, "an unknown stored value is read as `other`")
            #expect(paintings.where(\.mood == .wild).map(\.place) == [Place(1, 0)])
        }
        #expect(throws: StoreError.unknownValue(property: "Painting.mood", type: "Mood", value: "8")) {
            try store.read { try $0.objects(Mapped.Painting.self)[2].mood }
        }
        #expect(throws: StoreError.unknownValue(property: "Painting.small", type: "Int8", value: "200")) {
            try store.read { try $0.objects(Mapped.Painting.self).sum(\.small) }
        }
        #expect(throws: StoreError.unknownValue(property: "Painting.moods", type: "Mood", value: "8")) {
            try store.read { connection in Array(try connection.objects(Mapped.Painting.self)[1].moods) }
        }
    }

    @Test("frozen objects keep mapped values; those of a deleted object read as zero or as the initial value")
    func frozen() throws {
        let test = try store()
        let feed = try Feed(test.store)
        let frozen = try feed.connection.objects(Painting.self).sorted(by: \.place).freeze()
        try test.store.write { try $0.deleteAll(Painting.self) }
        #expect(frozen.map(\.mood) == [.calm, .glad, .wild, .calm, .glad, .wild])
        try test.store.write { connection in
            let painting = Painting(1, .wild)
            try connection.add(painting)
            try connection.delete(painting)
            #expect(painting.mood == .calm && painting.frame == nil, "the value for 0, and nil")
            // The empty text is not a value of this type, so the property has its initial value.
            #expect(painting.colour == .red)
        }
    }
}
