// Rule 9 when a changed row cannot be read: its page was destroyed after the commit.
import Foundation
import StillingWell
import Testing

@Suite("Rule 9: an object that cannot be read is an error, neither a deletion nor ignored", .timeLimit(.minutes(15)))
struct Rule09UnreadableTests {
    private let test: TestStore
    private let scheduler = ManualScheduler()
    private let connection: Connection
    private let note: Note

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<4 { try $0.add(Note(id: id, title: "needle")) } }
        connection = try test.store.connect(on: .scheduler(scheduler))
        note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
    }

    /// Commits, waits for upkeep's mail, and then overwrites each page that has "needle" among its entries.
    private func damage(_ write: (Note, Connection) throws -> Void) throws {
        try test.store.write { try write(try #require(try $0.object(Note.self, forPrimaryKey: 1)), $0) }
        try scheduler.waitForMail()
        let path = test.path + "/data.mdb"
        let pageBytes = Int(getpagesize())
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var count = 0
        for start in stride(from: 0, to: data.count, by: pageBytes) {
            let page = data[start..<min(start + pageBytes, data.count)]
            // Before its entries a page may contain stale bytes of other pages.
            let used = Int(page[start + 14]) | Int(page[start + 15]) << 8
            guard used < page.count, page[(start + used)...].range(of: Data("needle".utf8)) != nil else { continue }
            try file.seek(toOffset: UInt64(start))
            try file.write(contentsOf: Data(count: page.count))
            count += 1
        }
        #expect(count > 0)
    }

    @Test("the observer is told, once", arguments: [false, true])
    func observer(_ isDeletion: Bool) throws {
        var told: [String] = []
        let token = try note.observe { change in
            switch change {
            case .change(_, let changes): told.append("\(changes.map(\.name))")
            case .deleted: told.append("deleted")
            case .error(let error): told.append("\(error)")
            }
        }
        try damage { note, connection in
            if isDeletion { try connection.delete(note) } else { note.score = 1 }
        }
        scheduler.turnNow()
        #expect(told.count == 1)
        #expect(told.first?.contains("MDB_CORRUPTED") == true, "\(told)")
        scheduler.turnNow()
        #expect(told.count == 1)
        token.invalidate()
    }

    @Test("it is not taken for a missing object")
    func byID() throws {
        let id = try #require(note.objectID)
        try damage { note, _ in note.score = 1 }
        scheduler.turnNow()
        #expect(throws: StoreError.self) { try connection.object(Note.self, withID: id) }
    }

    @Test("the sequence throws it")
    func sequence() async throws {
        let changes = try note.changes()
        try damage { note, _ in note.score = 1 }
        scheduler.turnNow()
        await #expect(throws: StoreError.self) { for try await change in changes { Issue.record("\(change)") } }
    }
}
