import Foundation
import StillingWell
final class Note: StoredObject {
    @Stored(.primaryKey) var title = ""
    @Stored var stars = 0
}
@Sendable func write() {
    try! store.write { connection in
        for (title, stars) in [("tides", 3), ("fog", 1), ("gauges", 5)] {
            let note = Note()
            (note.title, note.stars) = (title, stars)
            try connection.add(note)
        }
    }
}
let store = try Store(.init(path: CommandLine.arguments.last!, models: [Note.self]))
let best = try store.connect(on: .runLoop).objects(Note.self).where(\.stars > 2).sorted(by: \.stars, ascending: false)
let token = try best.observe { change in
    switch change {
    case .initial(let notes):
        print("to begin with: \(notes.count) notes")
        Thread.detachNewThread(write)
    case .update(let notes, let changes):
        print("inserted \(changes.insertions):", notes.map { "\($0.title) \($0.stars)" })
        exit(0)
    case .error(let error): print(error)
    }
}
RunLoop.main.run()
