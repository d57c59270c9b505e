// A small store with all column types, keys, indexes, links and lists.
import Foundation
import StillingWell

/// A class with columns of all types, two of them optional.
public final class Sample: StoredObject {
    @Stored(.primaryKey) public var name = ""
    @Stored(.indexed) public var number = 0
    @Stored public var ratio = 0.0
    @Stored public var isMarked = false
    @Stored(.indexed) public var text: String? = nil
    @Stored public var date = Date(timeIntervalSinceReferenceDate: 0)
    @Stored public var data = Data()
    @Stored public var uuid: UUID? = nil
    @Linked public var next: Sample?
    @Listed public var others: List<Sample>
    @Listed public var words: List<String>
}

/// A class with integer keys.
public final class SampleNumber: StoredObject {
    @Stored(.primaryKey) public var id = 0
    @Linked public var sample: Sample?
}

public enum Samples {
    public static let models: [StoredObject.Type] = [Sample.self, SampleNumber.self]
    public static let count = 24

    private static func uuid(_ number: Int) -> UUID {
        let byte = UInt8(truncatingIfNeeded: number)
        return UUID(uuid: (byte, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, byte))
    }

    /// Adds the content in several commits. Some of it is changed and deleted again.
    public static func fill(_ store: Store) throws {
        try store.write { connection in
            for number in 0..<count + 2 {
                let sample = Sample()
                sample.name = "sample \(number)"
                try connection.add(sample)
            }
        }
        for number in 0..<count { try store.write { try set(number, $0) } }
        try store.write { connection in
            for number in count..<count + 2 {
                if let sample = try connection.object(Sample.self, forPrimaryKey: "sample \(number)") {
                    try connection.delete(sample)
                }
            }
            for number in 0..<count {
                let key = SampleNumber()
                key.id = number * 1_000 - 5_000
                key.sample = try connection.object(Sample.self, forPrimaryKey: "sample \(number)")
                try connection.add(key)
            }
        }
    }

    private static func set(_ number: Int, _ connection: Connection) throws {
        func sample(_ number: Int) throws -> Sample? {
            try connection.object(Sample.self, forPrimaryKey: "sample \(number % count)")
        }
        guard let changed = try sample(number) else { return }
        changed.number = number % 5
        changed.ratio = Double(number) / 4
        changed.isMarked = number.isMultiple(of: 3)
        changed.text = number.isMultiple(of: 4) ? nil : "text \(number % 6) " + String(repeating: "ä", count: number)
        changed.date = Date(timeIntervalSinceReferenceDate: Double(number) * 1_000)
        changed.data = Data(repeating: UInt8(number), count: number * number)
        changed.uuid = number.isMultiple(of: 2) ? uuid(number) : nil
        changed.next = try sample(number + 1)
        for step in 0..<number % 4 {
            if let other = try sample(number + step) { changed.others.append(other) }
            changed.words.append("word \(step)")
        }
        if number % 4 == 3 { changed.words.move(from: 2, to: 0) }
    }

    /// Returns lines of what is read: rows with their links and lists, rows by key, and rows by index.
    public static func lines(_ connection: Connection) throws -> [String] {
        var lines: [String] = []
        for sample in try connection.objects(Sample.self).sorted(by: \.name) {
            lines.append(
                """
                \(sample.name) \(sample.number) \(sample.ratio) \(sample.isMarked) \(sample.text ?? "nil") \
                \(sample.date.timeIntervalSinceReferenceDate) \(sample.data.base64EncodedString()) \
                \(sample.uuid?.uuidString ?? "nil") \(sample.next?.name ?? "nil") \(sample.others.map(\.name)) \
                \(Array(sample.words))
                """)
        }
        for number in 0..<count + 2 {
            let found = try connection.object(Sample.self, forPrimaryKey: "sample \(number)")
            let key = try connection.object(SampleNumber.self, forPrimaryKey: number * 1_000 - 5_000)
            lines.append("\(number): \(found?.name ?? "nil") \(key?.sample?.name ?? "nil")")
        }
        for number in 0..<6 {
            lines.append(
                "number \(number): \(try connection.objects(Sample.self).where(\.number == number).map(\.name))")
            let texts = try connection.objects(Sample.self).where((\Sample.text).hasPrefix("text \(number)")).map(
                \.name)
            lines.append("text \(number): \(texts)")
        }
        lines.append("numbers: \(try connection.objects(SampleNumber.self).where(\.id > 0).sorted(by: \.id).map(\.id))")
        return lines
    }
}
