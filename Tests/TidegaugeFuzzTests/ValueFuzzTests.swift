// Fuzzes JSON values from which a store makes objects.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@Suite("Fuzzing values", .serialized, .onThreads)
struct ValueFuzzTests {
    private static let good = [
        #"{"name": "new", "number": 3, "ratio": 0.5, "isMarked": true, "text": "ä", "next": {"name": "other"}, "words": ["x", "y"]}"#,
        #"{"name": "a", "number": -9223372036854775808, "ratio": 7, "text": null, "uuid": null, "next": null, "others": []}"#,
        #"{"name": "c", "others": [{"name": "b", "number": 4}, {"name": "d", "others": [{"name": "e"}]}], "words": []}"#,
    ]
    private static let words = [
        "\"name\":", "\"number\":", "\"ratio\":", "\"isMarked\":", "\"text\":", "\"date\":", "\"data\":", "\"uuid\":",
        "\"next\":", "\"others\":", "\"words\":", "null", "true", "{", "}", "[", "]", ",", "\"a\"", "\"b\"", "1e400",
        "-0.0",
        "9223372036854775808", "18446744073709551615", "1.5", "\\u0000", "\\ud800",
    ]

    private static func fill(_ connection: Connection) throws {
        for sample in try connection.objects(Sample.self) { try connection.delete(sample) }
        let text =
            #"{"name": "a", "number": 1, "words": ["x"], "next": {"name": "b", "text": "b", "others": [{"name": "f"}]}}"#
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        try connection.create(Sample.self, value: #require(value as? [String: Any]))
    }

    private static func lines(_ store: Store) throws -> [String] { try store.read { try Samples.lines($0) } }

    /// Names of the objects that `values` makes.
    private static func names(_ values: [String: Any]) -> [String] {
        let linked = values["next"] as? [String: Any]
        let listed = values["others"] as? [[String: Any]] ?? []
        return [values["name"] as? String ?? ""] + (linked.map(names) ?? []) + listed.flatMap(names)
    }

    /// Whether an object holds the values that it was given.
    private static func holds(_ object: Sample, _ values: [String: Any]) -> Bool {
        values.allSatisfy { name, value in
            let number = value as? NSNumber
            return switch name {
            case "name": Array(object.name.utf8) == (value as? String).map { Array($0.utf8) }
            case "number": number?.int64Value == Int64(object.number) && number?.doubleValue == Double(object.number)
            case "ratio": number?.doubleValue == object.ratio
            case "isMarked": number?.boolValue == object.isMarked
            case "text": object.text.map { Array($0.utf8) } == (value as? String).map { Array($0.utf8) }
            case "uuid": object.uuid == nil && value is NSNull
            case "words": Array(object.words) == value as? [String]
            case "next":
                if let given = value as? [String: Any] {
                    object.next.map { holds($0, given) } ?? false
                } else {
                    object.next == nil && value is NSNull
                }
            case "others":
                if let given = value as? [[String: Any]], given.count == object.others.count {
                    zip(object.others, given).allSatisfy { holds($0, $1) }
                } else {
                    false
                }
            // JSON has no dates and no bytes.
            default: false
            }
        }
    }

    @Test("value: an object has the value that was set, or the store is unchanged", arguments: seeds(1))
    func value(_ seed: UInt64) throws {
        let path = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: Samples.models, durability: .relaxed))
        defer { store.close() }
        try store.write { try Self.fill($0) }
        let before = try Self.lines(store)
        var fuzzer = try Fuzzer("value", seed: seed, words: Self.words, good: Self.good.map { Array($0.utf8) })
        try fuzzer.run(500) { bytes -> String in
            guard let json = try? JSONSerialization.jsonObject(with: Data(bytes)), let values = json as? [String: Any]
            else { return "no object" }
            let policy = [UpdatePolicy.error, .modified, .all][bytes.count % 3]
            do {
                try store.write { _ = try $0.create(Sample.self, value: values, update: policy) }
            } catch let error as StoreError {
                #expect(try Self.lines(store) == before, "TIDEGAUGE_SEED=\(seed): \(json)")
                return kind(of: error)
            }
            let names = Self.names(values)
            let isKept = try store.read { connection in
                // If two values have one key, the later one counts.
                guard Set(names).count == names.count else { return true }
                return try connection.object(Sample.self, forPrimaryKey: names[0]).map { Self.holds($0, values) }
                    ?? false
            }
            #expect(isKept, "TIDEGAUGE_SEED=\(seed): \(String(decoding: bytes, as: UTF8.self))")
            try store.write { try Self.fill($0) }
            #expect(try Self.lines(store) == before)
            return "\(policy) \(names.count) \(values.keys.sorted())"
        }
    }
}
