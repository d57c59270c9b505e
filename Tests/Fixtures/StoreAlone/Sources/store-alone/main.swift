// The store in Swift 6 mode from an actor, from the main actor and from tasks, with public declarations alone.
// `make external` builds and runs it.
import Foundation
import StillingWell

final class Note: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
    @Stored var done = false
}

/// Observes on an actor, and writes there.
actor Titles {
    private var connection: Connection?
    private var token: NotificationToken?
    private(set) var titles: [String] = []

    func start(_ store: Store) throws {
        let connection = try store.connect(on: .actor(self))
        token = try connection.objects(Note.self).sorted(by: \.title).observe(on: self) { me, change in
            switch change {
            case .initial(let notes), .update(let notes, _): me.titles = notes.map(\.title)
            case .error(let error): fatalError("\(error)")
            }
        }
        self.connection = connection
    }

    func finish(_ id: Int) throws {
        try connection?.write { try $0.object(Note.self, forPrimaryKey: id)?.done = true }
    }

    func stop() {
        token?.invalidate()
        (token, connection) = (nil, nil)
    }
}

/// A search field of a user interface.
@MainActor
final class Search {
    private var token: NotificationToken?
    private(set) var titles: [String] = []

    func show(_ store: Store, _ text: String) throws {
        let found = try store.connect(on: .main).objects(Note.self).where { $0.title.contains(text) && !$0.done }
        token = try found.observe { [weak self] change in
            switch change {
            case .initial(let notes), .update(let notes, _): self?.titles = notes.map(\.title)
            case .error(let error): fatalError("\(error)")
            }
        }
    }
}

/// Reads in a task.
func report(_ store: Store) async throws {
    let copy = try await store.read { try $0.object(Note.self, forPrimaryKey: 2)?.detached() }
    print("notes:", try await store.read { try $0.objects(Note.self).count })
    print("copy:", copy?.title ?? "none")
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
defer { try? FileManager.default.removeItem(at: folder) }
let store = try Store(.init(path: folder.path, models: [Note.self], durability: .relaxed))
let (titles, search) = (Titles(), Search())
try await titles.start(store)
try search.show(store, "tide")

/// Imports in the background.
let importer = Task.detached {
    for (id, title) in ["spring tide", "fog", "neap tide"].enumerated() {
        try await store.write(timeout: .seconds(60)) { connection in
            let note = Note()
            (note.id, note.title) = (id, title)
            try connection.add(note)
        }
    }
}
try await importer.value
try await titles.finish(0)

// Follows the notes that are done, until the one that `finish` has changed is among them.
for try await update in store.changes(of: Note.self, { $0.where(\.done) }) {
    if try update.rows.map(\.title) == ["spring tide"] { break }
}
while await titles.titles.count < 3 || search.titles != ["neap tide"] { await Task.yield() }
try await report(store)
print("titles:", await titles.titles.joined(separator: ", "))
print("found:", search.titles.joined(separator: ", "))
await titles.stop()
store.close()
