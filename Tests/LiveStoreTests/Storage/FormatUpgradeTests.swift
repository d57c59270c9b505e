// A file of an older format, kept as it was made then, becomes one of this format when it is opened: whole, or not at all.
import Foundation
import LiveStore
import LiveStoreFixtures
import Testing

@Suite("Files of an older format", .timeLimit(.minutes(15)))
struct FormatUpgradeTests {
    /// A kept file, and what a store is filled with to have the same.
    enum Kept: String, CaseIterable {
        case format2 = "Format2"
        case format3 = "Format3"
        case format4 = "Format4"
    }

    private let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"

    /// Puts the kept file where a store can be opened.
    private func restore(_ kept: Kept) throws {
        let kept = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/\(kept.rawValue)/data.mdb.gz").standardizedFileURL
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "gzip -dc '\(kept.path)' > '\(path)/data.mdb'"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func open() throws -> Store { try Store(.init(path: path, models: Samples.models, durability: .relaxed)) }

    private func lines(_ store: Store) throws -> [String] { try store.read { try Samples.lines($0) } }

    private func expected(_ kept: Kept) throws -> [String] {
        let test = try TestStore(Samples.models)
        try Samples.fill(test.store)
        if kept != .format2 { try Samples.fillMore(test.store) }
        return try lines(test.store)
    }

    @Test("has everything that it had, and goes on", arguments: Kept.allCases)
    func upgrade(_ kept: Kept) throws {
        try restore(kept)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let expected = try expected(kept)
        do {
            let store = try open()
            #expect(try lines(store) == expected)
            let report = try store.verify()
            #expect(report.isWhole, "\(report.damage)")
            try store.write { connection in
                let sample = try #require(try connection.object(Sample.self, forPrimaryKey: "sample 3"))
                sample.number = 77
                sample.words.append("new")
                try connection.delete(try #require(try connection.object(Sample.self, forPrimaryKey: "sample 4")))
            }
            if kept != .format2 { try rewriteLarge(store, expected) }
        }
        let store = try open()
        let changed = try lines(store)
        #expect(try store.verify().isWhole)
        #expect(changed.count == expected.count - 1)
        #expect(changed.contains { $0.hasPrefix("sample 3 77") && $0.hasSuffix("\"new\"]") })
    }

    /// Changes the number of an object whose text and data have more than a kilobyte each, and lie in its row until then.
    private func rewriteLarge(_ store: Store, _ expected: [String]) throws {
        func set(_ number: Int) throws {
            try store.write { try #require(try $0.object(Sample.self, forPrimaryKey: "long 2")).number = number }
        }
        // Its name is two words.
        let words = try #require(expected.first { $0.hasPrefix("long 2 ") }).split(separator: " ", maxSplits: 3)
        try set(1_234)
        #expect(try lines(store).contains("long 2 1234 \(words[3])"))
        let report = try store.verify()
        #expect(report.isWhole, "\(report.damage)")
        try set(try #require(Int(words[2])))
    }

    @Test("killed in the middle, it is what it was", arguments: Kept.allCases)
    func killed(_ kept: Kept) throws {
        let expected = try expected(kept)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var (ended, killed, kilobytes) = (0, 0, 72)
        while ended == 0, kilobytes < 1_600 {
            try restore(kept)
            let process = try FixtureProcess(path: path, .relaxed, ["convert", "\(kilobytes)", "kill"])
            try process.waitForEnd()
            process.waitUntilReaped()
            if process.output.value.lines == ["opened \(expected.count)"] { ended += 1 } else { killed += 1 }
            #expect(try lines(try open()) == expected, "\(kilobytes) KB")
            kilobytes += 16
        }
        #expect(ended == 1 && killed > 2)
    }

    @Test("without room for it the file is left as it was", arguments: Kept.allCases)
    func full(_ kept: Kept) throws {
        try restore(kept)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["convert", "100", "refuse"])
        try process.waitForEnd()
        process.waitUntilReaped()
        #expect(process.output.value.lines.first?.contains("is full") == true, "\(process.output.value.lines)")
        #expect(try lines(try open()) == (try expected(kept)))
    }
}
