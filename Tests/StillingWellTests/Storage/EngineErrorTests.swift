// Tests of errors that the engine reports during a read. Pages with certain bytes lose their type, which the engine
// checks.
import Foundation
import StillingWellFixtures
import Testing

@testable import StillingWell

@Suite("Errors of the engine")
struct EngineErrorTests {
    /// Pages of a file that contain `marker`. A damaged page has no valid type.
    private struct Pages {
        private static let pageBytes = 4_096
        private static let kindOffset = 10
        /// Offset of the field with the start of a page's used part, which extends to the page's end.
        private static let usedOffset = 14
        private let file: String
        private let kinds: [(offset: off_t, bytes: Data)]

        init(of test: TestStore, holding marker: String) throws {
            file = test.path + "/data.mdb"
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            kinds = stride(from: 2 * Self.pageBytes, to: data.count, by: Self.pageBytes).compactMap { start in
                // The unused part of a page may contain stale bytes of other pages.
                let used = Int(data[start + Self.usedOffset]) | Int(data[start + Self.usedOffset + 1]) << 8
                guard used < Self.pageBytes,
                    data[start + used..<start + Self.pageBytes].range(of: Data(marker.utf8)) != nil
                else { return nil }
                let kind = start + Self.kindOffset
                return (off_t(kind), data.subdata(in: kind..<kind + 2))
            }
            try #require(!kinds.isEmpty, "no page holds '\(marker)'")
        }

        private func write(_ bytes: (Data) -> Data) throws {
            let descriptor = open(file, O_RDWR | O_CLOEXEC)
            defer { close(descriptor) }
            for kind in kinds {
                let written = bytes(kind.bytes).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, 2, kind.offset) }
                try #require(written == 2)
            }
        }

        func damage() throws { try write { _ in Data([0, 0]) } }
        func mend() throws { try write { $0 } }
    }

    private func makeStore() throws -> TestStore {
        let test = try TestStore()
        try test.store.write { connection in
            for id in 0..<3 { try connection.add(Note(id: id, score: id, title: "row-marker \(id)")) }
        }
        return test
    }

    /// Checks that the error reports damage, names the store and says what to do.
    private func expectDamage(_ error: StoreError?, _ test: TestStore, _ comment: Comment? = nil) {
        let text = error.map { "\($0)" } ?? "no error"
        #expect(
            text.contains(test.path) && text.hasSuffix(")") && text.contains("restore it from a backup"),
            "\(comment ?? "") \(text)")
    }

    @Test("a read block that met damage throws, also if none of its calls did")
    func readBlock() throws {
        let test = try makeStore()
        let pages = try Pages(of: test, holding: "row-marker")
        try pages.damage()
        let reads: [(name: String, body: @Sendable (Connection) throws -> Void)] = [
            // The count of all notes is the engine's own and reads no row.
            ("iteration", { for _ in try $0.objects(Note.self) {} }),
            ("first", { _ = try $0.objects(Note.self).first }),
            ("filter", { _ = try $0.objects(Note.self).where(\.score > 0).count }),
            ("property", { _ = try $0.object(Note.self, forPrimaryKey: 1)?.title }),
            ("sum", { _ = try $0.objects(Note.self).sum(\.score) }),
            ("isInvalidated", { _ = try $0.object(Note.self, forPrimaryKey: 1)?.isInvalidated }),
        ]
        for read in reads {
            let error = #expect(throws: StoreError.self, "\(read.name)") { try test.store.read(read.body) }
            expectDamage(error, test, "\(read.name)")
        }
        try pages.mend()
        #expect(try test.store.read { try $0.objects(Note.self).map(\.score) } == [0, 1, 2])
    }

    @Test("a write that met damage fails, says so and stores nothing", arguments: ["set", "delete", "find", "all"])
    func write(_ kind: String) throws {
        let test = try makeStore()
        let pages = try Pages(of: test, holding: "row-marker")
        try pages.damage()
        let error = #expect(throws: StoreError.self) {
            try test.store.write { connection in
                switch kind {
                case "set": try #require(try connection.object(Note.self, forPrimaryKey: 1)).score = 7
                case "delete": try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: 1)))
                case "find":
                    if try connection.object(Note.self, forPrimaryKey: 1)?.title == "" {
                        try connection.add(Note(id: 9))
                    }
                default: for note in try connection.objects(Note.self) { note.score += 1 }
                }
            }
        }
        expectDamage(error, test)
        try pages.mend()
        #expect(try test.store.read { try $0.objects(Note.self).map(\.score) } == [0, 1, 2])
    }

    @Test("ids are not given out anew when the counter cannot be read")
    func counter() throws {
        let test = try makeStore()
        let pages = try Pages(of: test, holding: "next.")
        try pages.damage()
        let error = #expect(throws: StoreError.self) { try test.store.write { try $0.add(Note(id: 10)) } }
        expectDamage(error, test)
        try pages.mend()
        try test.store.write { try $0.add(Note(id: 10)) }
        #expect(try test.store.read { try $0.objects(Note.self).map(\.id) } == [0, 1, 2, 10])
    }

    @Test("an observer that asks for the first time is told of damage, not of an empty collection")
    func firstEvaluation() throws {
        let test = try makeStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        try Pages(of: test, holding: "row-marker").damage()
        var told: [String] = []
        var error: StoreError?
        let token = try connection.objects(Note.self).observe { change in
            switch change {
            case .initial(let notes): told.append("initial \(notes.count)")
            case .update: told.append("update")
            case .error(let found):
                told.append("error")
                error = found
            }
        }
        try scheduler.turn { !told.isEmpty }
        #expect(told == ["error"])
        expectDamage(error, test)
        withExtendedLifetime(token) {}
    }

    @Test("an observer is told of damage that upkeep finds; a new observation gets the rows of that time")
    func upkeep() throws {
        let test = try makeStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var told: [String] = []
        var error: StoreError?
        func observe() throws -> NotificationToken {
            try connection.objects(Note.self).where(\.score >= 0).observe { change in
                switch change {
                case .initial(let notes): told.append("initial \(notes.map(\.score))")
                case .update(let notes, _): told.append("update \(notes.map(\.score))")
                case .error(let found):
                    told.append("error")
                    error = found
                }
            }
        }
        let first = try observe()
        try scheduler.turn { !told.isEmpty }
        // Upkeep compares with the old rows in the file. The commit writes them to another page.
        try test.store.write { connection in
            let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            note.score = 50
            // Access to another object stores the row, and so copies its page.
            try #require(try connection.object(Note.self, forPrimaryKey: 2)).score = 60
            _ = try connection.objects(Note.self).count
            try Pages(of: test, holding: "row-marker").damage()
        }
        try scheduler.turn { told.count > 1 }
        #expect(told == ["initial [0, 1, 2]", "error"])
        expectDamage(error, test)
        let second = try observe()
        try scheduler.turn { told.count > 2 }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score = 40 }
        try scheduler.turn { told.count > 3 }
        #expect(told[2...] == ["initial [0, 50, 60]", "update [40, 50, 60]"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("an observer of one object is told of damage, met by upkeep or by the delivery", arguments: [true, false])
    func object(_ byUpkeep: Bool) throws {
        let test = try makeStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
        var told: [String] = []
        let token = try note.observe { change in
            switch change {
            case .change: told.append("change")
            case .deleted: told.append("deleted")
            case .error: told.append("error")
            }
        }
        let holder = HoldingScheduler()
        let held = try test.store.connect(on: .scheduler(holder))
        let heldToken = try held.observe { _, _ in }
        while try connection.refresh() {}
        if byUpkeep {
            holder.isHolding.update { $0 = true }
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 0)).score = 40 }
            try holder.isPosting.wait("upkeep to be held") { $0 }
        }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = 50 }
        if !byUpkeep { try scheduler.waitForMail() }
        try Pages(of: test, holding: "row-marker").damage()
        holder.isHolding.update { $0 = false }
        try scheduler.turn { !told.isEmpty }
        #expect(told == ["error"])
        withExtendedLifetime((token, heldToken)) {}
    }

    @Test("suppression survives a step of upkeep that met damage and could not restart")
    func silence() throws {
        let test = try makeStore()
        let feed = try Feed(test.store)
        let gate = try HeldUpkeep(test.store)
        let silent = try feed.observeStore("silent")
        var told: [String] = []
        let collection = try feed.connection.objects(Note.self).where(\.score >= 0).observe { change in
            if case .error = change { told.append("error") } else { told.append("rows") }
        }
        try feed.scheduler.turn { !told.isEmpty }
        try gate.close()
        try test.store.write(withoutNotifying: [silent]) {
            try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = 50
        }
        let pages = try Pages(of: test, holding: "row-marker")
        try pages.damage()
        // One reader of LMDB is left for the update that upkeep makes now, and none for the one after it.
        let storage = test.store.core.storage
        var readers: [SnapshotReader] = []
        while let reader = try? storage.takeReader() { readers.append(reader) }
        storage.recycle(readers.removeLast())
        gate.letGo()
        try feed.scheduler.turn { told.count > 1 }
        // Upkeep answers after the second update has failed.
        try test.store.core.startUpkeep().catchUp(feed.connection.live().mailbox, to: feed.connection.version)
        try pages.mend()
        for reader in readers { storage.recycle(reader) }
        try feed.catchUp()
        #expect(told == ["rows", "error"])
        #expect(feed.takeLog() == [])
        withExtendedLifetime(collection) {}
    }

    @Test("a getter of a live object, which cannot throw, ends the process with the store and the remedy")
    func getter() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["misuse", "damagedRow"])
        try process.waitForEnd()
        let text = process.output.value.lines.joined(separator: "\n")
        #expect(text.contains(path) && text.contains("restore it from a backup"), "\(text)")
    }
}

/// Blocks upkeep when it requests a delivery (`post`), while `isHolding` is true.
private final class HoldingScheduler: Scheduler, @unchecked Sendable {
    let isHolding = Watched(false)
    let isPosting = Watched(false)
    let name = "a test"
    let isCurrent = true

    func post() {
        guard isHolding.value else { return }
        isPosting.update { $0 = true }
        _ = try? isHolding.wait("upkeep to be let go") { !$0 }
    }

    func setDelivery(_ deliver: @escaping @Sendable () -> Void) {}
    func invalidate() {}
}
