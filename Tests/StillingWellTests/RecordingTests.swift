// Tests of a recording of an application.
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("A recording")
struct RecordingTests {
    private let file = NSTemporaryDirectory() + "stillingwell-recording-\(UUID().uuidString).txt"

    /// Returns the lines. Row numbers are replaced by letters in order of appearance.
    private func lines() throws -> [String] {
        var letters: [Substring: String] = [:]
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
            var words = line.split(separator: " ", omittingEmptySubsequences: false)
            if line.hasPrefix(" ") {
                let letter = letters[words[3]] ?? String(UnicodeScalar(UInt8(97 + letters.count)))
                letters[words[3]] = letter
                words[3] = letter[...]
            }
            return words.joined(separator: " ")
        }
    }

    @Test("has each commit with its operations, each query while it is watched, their times, and no values")
    func lineByLine() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let test = try TestStore()
        let clock = Guarded<Int64>("clock", 7_000_000_000)
        func at(_ milliseconds: Int64) { clock.withLock { $0 = 7_000_000_000 + milliseconds * 1_000_000 } }
        try test.store.write { try $0.add(Note(id: 1, score: 10)) }
        let recorder = try test.store.record(to: file) { clock.withLock { $0 } }
        let feed = try Feed(test.store)
        at(1)
        let notes = try feed.connection.objects(Note.self).where(\.score > 5 && \.done == false)
        let token = try feed.observe("top", notes.sorted(by: \.score, ascending: false).limited(to: 3))
        at(250)
        try test.store.write { connection in
            // The time of a write is the time at which it was requested.
            at(300)
            try connection.add(Note(id: 2, score: 3))
            let first = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            first.score = 12
            first.title = "a secret"
        }
        at(400)
        try feed.catchUp()
        try feed.connection.write { try $0.delete(try #require(try $0.object(Note.self, forPrimaryKey: 2))) }
        #expect(throws: StoreError.closed) {
            try test.store.write {
                try $0.add(Note(id: 3))
                throw StoreError.closed
            }
        }
        try test.store.write { _ in }
        at(500)
        token.invalidate()
        #expect(throws: StoreError.self) { try test.store.record(to: file + ".2") }
        at(1_000)
        try recorder.end()
        try test.store.write { try $0.add(Note(id: 4)) }
        #expect(
            try lines() == [
                "0.000000 holds Note 1",
                "0.001000 subscribe 1 Note filter=score,done sort=-score limit=3",
                "0.001000 found 1 1",
                "0.250000 commit 2",
                " insert Note a",
                " update Note b title,score",
                "0.400000 commit 1",
                " delete Note a",
                "0.500000 drop 1",
                "1.000000 end",
            ])
        try? FileManager.default.removeItem(atPath: file + ".2")
    }

    @Test("has a query's number of rows again once there are over twice as many, or less than half")
    func sizes() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let test = try TestStore()
        let recorder = try test.store.record(to: file)
        let feed = try Feed(test.store)
        let token = try feed.observe("all", try feed.connection.objects(Note.self))
        for id in 1...5 {
            try test.store.write { try $0.add(Note(id: id)) }
            try feed.catchUp()
        }
        for id in 1...5 {
            try test.store.write { try $0.delete(try #require(try $0.object(Note.self, forPrimaryKey: id))) }
            try feed.catchUp()
        }
        token.invalidate()
        try recorder.end()
        let sizes = try lines().map { $0.split(separator: " ") }.filter { $0[1] == "found" }.map { $0[3] }
        #expect(sizes == ["0", "1", "3", "1", "0"])
    }

    @Test("a recording that is released has ended, and another may begin")
    func abandoned() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let test = try TestStore()
        _ = try test.store.record(to: file)
        #expect(try lines().last?.hasSuffix(" end") == true)
        try test.store.record(to: file).end()
    }

    @Test("continues when a second recording is refused, whose file is not changed, and when an ended one is released")
    func others() throws {
        defer { for name in [file, file + ".2"] { try? FileManager.default.removeItem(atPath: name) } }
        let test = try TestStore()
        var first: WorkloadRecorder? = try test.store.record(to: file)
        for name in [file, file + ".2"] {
            #expect(throws: StoreError.self) { try test.store.record(to: name) }
        }
        #expect(!FileManager.default.fileExists(atPath: file + ".2"))
        try test.store.write { try $0.add(Note(id: 1)) }
        try first?.end()
        #expect(try lines().map { String($0.drop { $0 != " " }) } == [" commit 1", " insert Note a", " end"])
        try FileManager.default.removeItem(atPath: file)
        let second = try test.store.record(to: file)
        try first?.end()
        first = nil
        try test.store.write { try $0.add(Note(id: 2)) }
        #expect(throws: StoreError.self) { try test.store.record(to: file + ".2") }
        try second.end()
        #expect(
            try lines().map { String($0.drop { $0 != " " }) } == [
                " holds Note 1", " commit 1", " insert Note a", " end",
            ])
    }

    @Test("a recording to a path that cannot be written is refused")
    func refused() throws {
        let test = try TestStore()
        let error = #expect(throws: StoreError.self) { try test.store.record(to: "/nowhere/trace.txt") }
        #expect(error.map { "\($0)" }?.contains("/nowhere/trace.txt") == true)
        // The next recording is not refused as a second one.
        try test.store.record(to: file).end()
        try? FileManager.default.removeItem(atPath: file)
    }
}
