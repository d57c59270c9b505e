// A minimal use of the store: adds a row and counts the rows. `make external` builds and runs it.
import Foundation
import StillingWell

final class Note: StoredObject {
    @Stored var title = ""
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
defer { try? FileManager.default.removeItem(at: folder) }
let store = try Store(.init(path: folder.path, models: [Note.self], durability: .relaxed))
try store.write { connection in
    let note = Note()
    note.title = "tides"
    try connection.add(note)
}
print("notes:", try store.connect(on: .runLoop).objects(Note.self).count)
try store.close()
