// A program whose model has got a property with a default, the program before, and one that is killed while the rows of the
// file get it. The classes have one name.
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
    /// How many objects are still begun before the program kills itself.
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

/// `old COUNT`: adds rows, says so, and adds one more when it is told to. `new COUNT`: is killed as the object with this number
/// begins, or says how many rows have the default.
func upgrade(_ path: String, _ durability: Durability, _ kind: String, _ count: Int) throws {
    if kind == "new" {
        // What a class is made of is found out with objects too.
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
