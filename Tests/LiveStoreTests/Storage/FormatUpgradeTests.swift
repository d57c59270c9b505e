// A file of format 2, kept as it was made then, becomes one of format 3 when it is opened: whole, or not at all.
import Foundation
import LiveStore
import LiveStoreFixtures
import Testing

@Suite("Files of an older format", .timeLimit(.minutes(15)))
struct FormatUpgradeTests {
    private let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"

    /// Puts the kept file where a store can be opened.
    private func restore() throws {
        let kept = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/Format2/data.mdb.gz").standardizedFileURL
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

    private func expected() throws -> [String] {
        let test = try TestStore(Samples.models)
        try Samples.fill(test.store)
        return try lines(test.store)
    }

    @Test("has everything that it had, and goes on")
    func upgrade() throws {
        try restore()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let expected = try expected()
        do {
            let store = try open()
            #expect(try lines(store) == expected)
            try store.write { connection in
                let sample = try #require(try connection.object(Sample.self, forPrimaryKey: "sample 3"))
                sample.number = 77
                sample.words.append("new")
                try connection.delete(try #require(try connection.object(Sample.self, forPrimaryKey: "sample 4")))
            }
        }
        let changed = try lines(try open())
        #expect(changed.count == expected.count - 1)
        #expect(changed.contains { $0.hasPrefix("sample 3 77") && $0.hasSuffix("\"new\"]") })
    }

    @Test("killed in the middle, it is what it was")
    func killed() throws {
        let expected = try expected()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var (ended, killed, kilobytes) = (0, 0, 72)
        while ended == 0, kilobytes < 800 {
            try restore()
            let process = try FixtureProcess(path: path, .relaxed, ["convert", "\(kilobytes)", "kill"])
            try process.waitForEnd()
            process.waitUntilReaped()
            if process.output.value.lines == ["opened \(expected.count)"] { ended += 1 } else { killed += 1 }
            #expect(try lines(try open()) == expected, "\(kilobytes) KB")
            kilobytes += 16
        }
        #expect(ended == 1 && killed > 2)
    }

    @Test("without room for it the file is left as it was")
    func full() throws {
        try restore()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["convert", "100", "refuse"])
        try process.waitForEnd()
        process.waitUntilReaped()
        #expect(process.output.value.lines.first?.contains("is full") == true, "\(process.output.value.lines)")
        #expect(try lines(try open()) == (try expected()))
    }
}
