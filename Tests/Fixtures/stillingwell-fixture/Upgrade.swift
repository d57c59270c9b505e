// Three programs: one whose model has a new property with a default value, its predecessor, and one that is killed
// while the rows get the new property. The classes have one name.
import Foundation
import StillingWell
import Synchronization

private enum Older {
    final class Rated: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
    }
}

private enum Newer {
    /// Number of objects left to create. The creation of the last one kills the program.
    static let left = Atomic(Int.max)

    static func rating() -> Int {
        if left.subtract(1, ordering: .relaxed).newValue == 0 { kill(getpid(), SIGKILL) }
        return 5
    }

    final class Rated: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored(.indexed) var rating = Newer.rating()
        @Stored var text = ""
    }
}

/// `old COUNT`: adds rows, reports it, and adds one more on request. `new COUNT`: is killed when the object with this
/// number is created, or prints how many rows have the default value.
func upgrade(_ path: String, _ durability: Durability, _ kind: String, _ count: Int) throws {
    if kind == "new" {
        // The store also creates objects to find out the properties of a class.
        Newer.left.store(count, ordering: .relaxed)
        let store = try Store(.init(path: path, models: [Newer.Rated.self], durability: durability))
        say("ready")
        say("\(try store.read { try $0.objects(Newer.Rated.self).where(\.rating == 5).count })")
        return
    }
    let store = try Store(.init(path: path, models: [Older.Rated.self], durability: durability))
    func add(_ id: Int) throws {
        try store.write { connection in
            let rated = Older.Rated()
            (rated.id, rated.text) = (id, "row \(id)")
            try connection.add(rated)
        }
    }
    for id in 0..<count { try add(id) }
    say("ready")
    while readLine() != nil {
        try add(count)
        say("added")
    }
}
