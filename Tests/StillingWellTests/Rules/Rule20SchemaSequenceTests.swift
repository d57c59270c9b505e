// Rule 20 with random sequences of models of one name over a file, compared with a dictionary.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Rule 20: any sequence of versions")
struct Rule20SchemaSequenceTests {
    @Test("each property has its last written value, whatever sequence of models opens the file")
    func sequences() throws {
        var random = SeededRandom(seed: SeededRandom.base)
        for round in 0..<12 {
            let place: Comment = "round \(round), TIDEGAUGE_SEED=\(SeededRandom.base)"
            let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            // Rows by key, then values by property.
            var model: [Int: [String: Int?]] = [:]
            // Properties that some version has had.
            var known: Set<String> = []
            for version in 0..<8 {
                let shape = Shapes.all[random.below(Shapes.all.count)]
                let store = try Store(
                    .init(
                        path: path, models: [shape.model], durability: .relaxed, schemaVersion: UInt64(version),
                        migration: { _ in }))
                for name in shape.names where known.insert(name).inserted {
                    for key in model.keys { model[key]![name] = shape.defaults[name] ?? nil }
                }
                try store.write { connection in
                    for _ in 0..<random.below(12) {
                        let key = random.below(20)
                        var values: [String: Int?] = [:]
                        for name in shape.names where random.oneIn(2) {
                            values[name] = name == "o" && random.oneIn(3) ? .some(nil) : random.below(1_000)
                        }
                        try shape.set(connection, key, values)
                        model[key, default: shape.defaults].merge(values) { $1 }
                    }
                }
                let expected = model.mapValues { row in
                    Dictionary(
                        uniqueKeysWithValues: shape.names.map { ($0, (row[$0] ?? nil) ?? ($0 == "o" ? nil : 0)) })
                }
                #expect(try store.read { try shape.all($0) } == expected, place)
            }
        }
    }
}

/// Models of one name with some of the properties a to d and o, in different orders and with different default values.
private protocol Shape: StoredObject {
    /// Default values that are not zero.
    static var defaults: [String: Int?] { get }
    static var paths: [String: ReferenceWritableKeyPath<Self, Int>] { get }
    static var optional: ReferenceWritableKeyPath<Self, Int?>? { get }
    var key: Int { get set }
}

private struct AnyShape {
    let model: StoredObject.Type
    let names: [String]
    let defaults: [String: Int?]
    let set: (Connection, Int, [String: Int?]) throws -> Void
    let all: (Connection) throws -> [Int: [String: Int?]]

    init<S: Shape>(_ shape: S.Type) {
        model = shape
        defaults = shape.defaults
        names = shape.paths.keys.sorted() + (shape.optional == nil ? [] : ["o"])
        set = { connection, key, values in
            var found = try connection.object(S.self, forPrimaryKey: key)
            if found == nil {
                let new = S()
                new.key = key
                try connection.add(new)
                found = new
            }
            for (name, value) in values {
                if name == "o" {
                    found![keyPath: S.optional!] = value
                } else {
                    found![keyPath: S.paths[name]!] = value!
                }
            }
        }
        all = { connection in
            var rows: [Int: [String: Int?]] = [:]
            for object in try connection.objects(S.self) {
                var row: [String: Int?] = S.paths.mapValues { object[keyPath: $0] }
                if let optional = S.optional { row["o"] = .some(object[keyPath: optional]) }
                rows[object.key] = row
            }
            // Queries by value, which may use an index, agree with the rows.
            for (name, path) in S.paths {
                for (value, same) in Dictionary(grouping: rows.values, by: { $0[name]! }) {
                    #expect(try connection.objects(S.self).where(path == value!).count == same.count, "\(name)")
                }
            }
            return rows
        }
    }
}

private enum Shapes {
    static var all: [AnyShape] {
        [AnyShape(A.Thing.self), AnyShape(B.Thing.self), AnyShape(C.Thing.self), AnyShape(D.Thing.self)]
    }

    enum A {
        final class Thing: StoredObject, Shape {
            @Stored(.primaryKey) var key = 0
            @Stored var a = 0
            @Stored var b = 0
            static var defaults: [String: Int?] { [:] }
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "b": \.b] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum B {
        final class Thing: StoredObject, Shape {
            @Stored var o: Int? = nil
            @Stored var b = 0
            @Stored(.primaryKey) var key = 0
            @Stored var c = 7
            static var defaults: [String: Int?] { ["c": 7] }
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["b": \.b, "c": \.c] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
    enum C {
        final class Thing: StoredObject, Shape {
            @Stored var d = 3
            @Stored(.primaryKey) var key = 0
            @Stored(.indexed) var a = -1
            static var defaults: [String: Int?] { ["d": 3, "a": -1] }
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum D {
        final class Thing: StoredObject, Shape {
            @Stored var c = 0
            @Stored var d = 0
            @Stored var o: Int? = 9
            @Stored var a = 0
            @Stored(.primaryKey) var key = 0
            static var defaults: [String: Int?] { ["o": 9] }
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "c": \.c, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
}
