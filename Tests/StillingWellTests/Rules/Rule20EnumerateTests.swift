import Foundation
import Testing

@testable import StillingWell

private enum Before {
    final class Entry: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
        @Stored var count = 0
    }
}

private enum After {
    final class Entry: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
        @Stored var count = ""
        @Stored var note = ""
    }
}

@Suite("Rule 20: rows of a migration, gone through more than once")
struct Rule20EnumerateTests {
    @Test("old rows do not change, however often they are enumerated")
    func thrice() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try fill(path)
        try migrate(path)
    }

    private struct Refused: Error {}

    @Test("a retained migration does not keep the store open, and may be released later", arguments: [true, false])
    func kept(_ succeeds: Bool) throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try fill(path)
        // Used on this thread only.
        nonisolated(unsafe) var kept: (migration: Migration, rows: [MigrationRow])?
        let configuration = Store.Configuration(
            path: path, models: [After.Entry.self], durability: .relaxed, schemaVersion: 1
        ) { migration in
            var rows: [MigrationRow] = []
            try migration.enumerate("Entry") { rows += [$0, $1] }
            kept = (migration, rows)
            if !succeeds { throw Refused() }
        }
        if succeeds { _ = try Store(configuration) } else { #expect(throws: Refused.self) { try Store(configuration) } }
        // `compact` would be refused if the store was still open.
        try Store.compact(configuration)
        let migration = try #require(kept?.migration)
        #expect(kept?.rows.count == 600)
        #expect(refusal { try migration.enumerate("Entry") { _, _ in } }.contains("the block has ended"))
        kept = nil
    }

    private func fill(_ path: String) throws {
        let store = try Store(.init(path: path, models: [Before.Entry.self], durability: .relaxed))
        try store.write { connection in
            for id in 0..<300 {
                let entry = Before.Entry()
                entry.id = id
                entry.text = "text \(id)"
                entry.count = id
                try connection.add(entry)
            }
        }
    }

    private func migrate(_ path: String) throws {
        let configuration = Store.Configuration(
            path: path, models: [After.Entry.self], durability: .relaxed, schemaVersion: 1
        ) { migration in
            var seen: [[String]] = [[], [], []]
            for round in 0..<3 {
                try migration.enumerate("Entry") { old, new in
                    seen[round].append("\(old["text"] ?? "") \(old["count"] ?? "")")
                    if round > 0 { #expect(new["text"] as? String == "changed in \(round - 1)") }
                    new["text"] = "changed in \(round)"
                    new["count"] = "\(old["count"] ?? "")"
                    new["note"] = "\(new["note"] ?? "")+"
                }
            }
            #expect(seen[0] == (0..<300).map { "text \($0) \($0)" })
            #expect(seen[1] == seen[0] && seen[2] == seen[0])
        }
        let store = try Store(configuration)
        try store.read { connection in
            let entries = try connection.objects(After.Entry.self)
            #expect(entries.map(\.text) == .init(repeating: "changed in 2", count: 300))
            #expect(entries.map(\.count) == (0..<300).map { "\($0)" })
            #expect(entries.map(\.note) == .init(repeating: "+++", count: 300))
        }
    }
}
