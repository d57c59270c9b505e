import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

/// The class as another program declares it.
private enum Before {
    final class Part: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var kind = ""
        @Stored var size: Double? = nil
    }
}

private enum After {
    final class Part: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored(.indexed) var kind = ""
        @Stored(.indexed) var size: Double? = nil
    }
}

@Suite("Secondary indexes")
struct IndexTests {
    private static let kinds = [
        "", "a", "a\0", "b", String(repeating: "k", count: 600), String(repeating: "k", count: 601),
    ]
    private static let sizes: [Double?] = [nil, -.infinity, -1, -0.0, 0, 0.5, .nan, -.nan]

    @Test("an index is built when a class declares it, and maintained by programs whose classes do not")
    func building() throws {
        let path = NSTemporaryDirectory() + "stillingwell-index-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func indexed() throws -> [Int] {
            let store = try Store(.init(path: path, models: [After.Part.self], durability: .relaxed))
            let table = try store.core.storage.table(of: After.Part.self)
            return try store.read { connection in
                let snapshot = try connection.core.storage.openSnapshot()
                let found = IndexAccess.candidates([.compare(column: 1, .equal, .string("b"))], table, snapshot)
                return try #require(found).map { Int($0.rawValue) }
            }
        }
        func write(_ body: @escaping (Connection) throws -> Void) throws {
            try Store(.init(path: path, models: [Before.Part.self], durability: .relaxed)).write(body)
        }
        func add(_ id: Int, _ kind: String, _ connection: Connection) throws {
            let part = Before.Part()
            part.id = id
            part.kind = kind
            try connection.add(part)
        }
        try write { connection in for id in 1...6 { try add(id, id % 2 == 0 ? "b" : "a", connection) } }
        try #expect(indexed() == [2, 4, 6])
        try write { connection in
            try add(7, "b", connection)
            let parts = try connection.objects(Before.Part.self)
            parts.first { $0.id == 1 }?.kind = "b"
            parts.first { $0.id == 4 }?.kind = "c"
            try parts.first { $0.id == 6 }.map { try connection.delete($0) }
        }
        try #expect(indexed() == [1, 2, 7])
    }

    @Test("index queries find the same rows as a scan", arguments: 0..<6)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore([After.Part.self], durability: .memory)
        for _ in 0..<12 {
            try test.store.write { connection in
                for _ in 0..<20 {
                    let id = random.below(120)
                    let known = try connection.object(After.Part.self, forPrimaryKey: id)
                    if let known, random.oneIn(4) {
                        try connection.delete(known)
                        continue
                    }
                    let part = known ?? After.Part()
                    if known == nil { part.id = id }
                    part.kind = Self.kinds[random.below(Self.kinds.count)]
                    part.size = Self.sizes[random.below(Self.sizes.count)]
                    if known == nil { try connection.add(part) }
                }
            }
            try test.store.read { connection in
                let parts = try connection.objects(After.Part.self)
                let kind = Self.kinds[random.below(Self.kinds.count)]
                let size = Self.sizes[random.below(Self.sizes.count)]
                let filters: [(Filter<After.Part>, (After.Part) -> Bool)] = [
                    (\.kind == kind, { $0.kind.utf8.elementsEqual(kind.utf8) }),
                    (\.kind >= kind, { !$0.kind.utf8.lexicographicallyPrecedes(kind.utf8) }),
                    (\.size == size, { $0.size == size }),
                    (\.size < size, { part in part.size.flatMap { a in size.map { a < $0 } } ?? false }),
                    ((\After.Part.size).in([size, 0.5]), { $0.size == size || $0.size == 0.5 }),
                ]
                for (filter, passes) in filters {
                    let expected = parts.filter(passes).map(\.id)
                    #expect(parts.where(filter).map(\.id) == expected, "TIDEGAUGE_SEED=\(seed)")
                }
            }
        }
    }

    @Test("the encoding of a column without link and index has not changed")
    func schema() throws {
        let text = #"{"isOptional":true,"name":"size","type":"double"}"#
        let column = try JSONDecoder().decode(ColumnSchema.self, from: Data(text.utf8))
        #expect(column == ColumnSchema(name: "size", type: .double, isOptional: true))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(column), as: UTF8.self) == text)
    }
}
