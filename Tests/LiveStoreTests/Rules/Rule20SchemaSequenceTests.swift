// Rule 20 as a property: models of one name follow one another over a file at random, against a dictionary.
import Foundation
import SeededRandom
import Testing

@testable import LiveStore
@testable import LiveStoreEngine

@Suite("Rule 20: any sequence of versions")
struct Rule20SchemaSequenceTests {
    @Test("whatever sequence of models opens a file, each property has what was last written to it")
    func sequences() throws {
        var random = SeededRandom(seed: SeededRandom.base)
        for round in 0..<12 {
            let place: Comment = "round \(round), TIDEGAUGE_SEED=\(SeededRandom.base)"
            let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            // By key, then by property.
            var model: [Int: [String: Int?]] = [:]
            for version in 0..<8 {
                let shape = Shapes.all[random.below(Shapes.all.count)]
                let store = try Store(
                    .init(
                        path: path, models: [shape.model], durability: .relaxed, schemaVersion: UInt64(version),
                        migration: { _ in }))
                try store.write { connection in
                    for _ in 0..<random.below(12) {
                        let key = random.below(20)
                        var values: [String: Int?] = [:]
                        for name in shape.names where random.oneIn(2) {
                            values[name] = name == "o" && random.oneIn(3) ? .some(nil) : random.below(1_000)
                        }
                        try shape.set(connection, key, values)
                        model[key, default: [:]].merge(values) { $1 }
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

/// Models of one name with some of the properties a to d and o, in any order.
private protocol Shape: StoredObject {
    static var paths: [String: ReferenceWritableKeyPath<Self, Int>] { get }
    static var optional: ReferenceWritableKeyPath<Self, Int?>? { get }
    var key: Int { get set }
}

private struct AnyShape {
    let model: StoredObject.Type
    let names: [String]
    let set: (Connection, Int, [String: Int?]) throws -> Void
    let all: (Connection) throws -> [Int: [String: Int?]]

    init<S: Shape>(_ shape: S.Type) {
        model = shape
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
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "b": \.b] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum B {
        final class Thing: StoredObject, Shape {
            @Stored var o: Int? = nil
            @Stored var b = 0
            @Stored(.primaryKey) var key = 0
            @Stored var c = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["b": \.b, "c": \.c] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
    enum C {
        final class Thing: StoredObject, Shape {
            @Stored var d = 0
            @Stored(.primaryKey) var key = 0
            @Stored var a = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum D {
        final class Thing: StoredObject, Shape {
            @Stored var c = 0
            @Stored var d = 0
            @Stored var o: Int? = nil
            @Stored var a = 0
            @Stored(.primaryKey) var key = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "c": \.c, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
}
