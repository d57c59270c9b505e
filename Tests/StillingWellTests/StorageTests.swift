import Foundation
import StillingWell
import StillingWellSync
import Testing

@Suite("Storing objects")
struct StorageTests {
    @Test("stored properties survive closing and opening", arguments: [Durability.full, .relaxed])
    func roundTrip(_ durability: Durability) throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let tag = UUID()
        let configuration = Store.Configuration(path: path, models: [Note.self], durability: durability)
        do {
            let store = try Store(configuration)
            try store.write { connection in
                let note = Note(id: -7, score: .min, title: "naïve \u{0} 🌊")
                note.weight = -.pi
                note.done = true
                note.due = Date(timeIntervalSinceReferenceDate: 1.5)
                note.blob = Data([0, 1, 255])
                note.tag = tag
                note.group = nil
                try connection.add(note)
                // Set again after the insertion, some longer and some shorter than before.
                note.title = "a much longer title than the one it had at first"
                note.blob = Data([7])
            }
        }
        let store = try Store(configuration)
        try store.read { connection in
            let note = try #require(try connection.object(Note.self, forPrimaryKey: -7))
            #expect(note.score == .min && note.weight == -.pi && note.done && note.group == nil)
            #expect(note.title == "a much longer title than the one it had at first")
            #expect(note.blob == Data([7]) && note.tag == tag)
            #expect(note.due == Date(timeIntervalSinceReferenceDate: 1.5))
        }
    }

    @Test("an object that was read in a cancelled write stands for no later row")
    func lookedUpInCancelledWrite() throws {
        struct Stop: Error {}
        let test = try TestStore()
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        var found: Note?
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.add(Note(id: 1, title: "cancelled"))
                found = try connection.object(Note.self, forPrimaryKey: 1)
                throw Stop()
            }
        }
        let later = Note(id: 2, title: "later")
        try connection.write { try connection.add(later) }
        let note = try #require(found)
        #expect(note.isInvalidated && note.title == "" && note.objectID != later.objectID)
        try connection.write { try connection.delete(note) }
        #expect(throws: StoreError.invalidatedObject(table: "Note")) { try connection.write { note.title = "mine" } }
        #expect(later.title == "later")
    }

    @Test("a primary key is unique, and free again after a deletion; object ids are never reused")
    func primaryKeys() throws {
        let test = try TestStore()
        let first = try test.store.write { connection in
            let note = Note(id: 1)
            try connection.add(note)
            return note.objectID
        }
        let error = #expect(throws: StoreError.self) { try test.store.write { try $0.add(Note(id: 1)) } }
        #expect(error == .duplicatePrimaryKey(table: "Note", key: "1"))
        try test.store.write { connection in
            try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: 1)))
        }
        let second = try test.store.write { connection in
            let note = Note(id: 1)
            try connection.add(note)
            return note.objectID
        }
        #expect(try #require(first) < #require(second))
    }

    @Test("misuse is an error: a write inside a write, or of a connection that only reads, and an unknown model")
    func misuse() throws {
        let test = try TestStore()
        try test.store.write { connection in
            #expect(throws: StoreError.writeInsideWrite) { try connection.write {} }
            #expect(throws: StoreError.writeInsideWrite) { try test.store.write { _ in } }
        }
        #expect(throws: StoreError.notInWrite) { try test.store.read { try $0.add(Note(id: 1)) } }
        #expect(throws: StoreError.unknownModel(type: "Person")) {
            try test.store.read { _ = try $0.objects(Person.self) }
        }
    }

    @Test("a write that waits too long gives up, and leaves the lock to others")
    func timeout() throws {
        let test = try TestStore()
        try test.whileLocked { _ in
            let limit = Duration.milliseconds(20)
            #expect(throws: StoreError.writeTimedOut(after: limit)) { try test.store.write(timeout: limit) { _ in } }
        }
        try test.store.write(timeout: .seconds(5)) { try $0.add(Note(id: 1)) }
    }

    @Test("two handles of one path share one environment, and must have one durability")
    func handles() throws {
        let test = try TestStore(durability: .relaxed)
        let again = try Store(test.store.configuration)
        try again.write { try $0.add(Note(id: 1)) }
        #expect(try test.store.read { try $0.objects(Note.self).count } == 1)
        #expect(throws: StoreError.self) { try Store(.init(path: test.path, models: [Note.self], durability: .full)) }
    }

    @Test("a file that is no store is refused with its path")
    func notAStore() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(repeating: 0x2a, count: 100_000).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        let error = #expect(throws: StoreError.self) { try Store(.init(path: path, models: [Note.self])) }
        #expect("\(error!)".contains(path))
        let folder = path + "/data.mdb/below"
        #expect(throws: StoreError.self) { try Store(.init(path: folder, models: [Note.self])) }
    }

    @Test("a commit too large to be listed in the log reaches observers all the same")
    func hugeCommit() throws {
        let test = try TestStore([LogLine.self], durability: .memory)
        let thread = RunLoopThread("huge")
        defer { thread.stop() }
        let counts = Watched<[Int]>([])
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            let lines = try test.store.connect(on: .runLoop).objects(LogLine.self)
            token = try lines.observe { change in
                if case .update(_, let changes) = change { counts.update { $0.append(changes.insertions.count) } }
                if case .initial = change { counts.update { $0.append(0) } }
            }
        }
        try counts.wait("initial") { $0 == [0] }
        try test.store.write { connection in for _ in 0..<66_000 { try connection.add(LogLine()) } }
        try counts.wait("update") { $0 == [0, 66_000] }
        try thread.performAndWait { token?.invalidate() }
    }
}
