import StillingWell

final class Note: StoredObject {
    @Stored(.primaryKey) var title = ""
    @Stored var stars = 0
}

let store = try Store(.init(path: CommandLine.arguments[1], models: [Note.self]))
let connection = try store.connect(on: .main)
let best = try connection.objects(Note.self).where(\.stars > 2).sorted(by: \.stars, ascending: false)
let token = try best.observe { change in
    if case .update(let notes, let changes) = change { print("inserted \(changes.insertions):", notes.map(\.title)) }
}
try connection.refresh()  // delivers; in an application the main run loop does
try store.write { connection in
    for stars in 1...4 { try connection.create(Note.self, value: ["title": "note \(stars)", "stars": stars]) }
}
try connection.refresh()
