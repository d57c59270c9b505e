import Foundation
import StillingWell

/// A class with a link and a list of its own class, and lists of values.
final class Human: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored(.indexed) var name = ""
    @Stored var age = 0
    @Linked var boss: Human?
    @Listed var friends: List<Human>
    @Listed var tags: List<String>
    @Listed var scores: List<Int?>

    convenience init(_ id: Int, _ name: String = "", age: Int = 0) {
        self.init()
        self.id = id
        self.name = name
        self.age = age
    }
}

final class Dog: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored(.indexed) var breed: String? = nil
    @Linked var owner: Human?

    convenience init(_ id: Int, owner: Human? = nil, breed: String? = nil) {
        self.init()
        self.id = id
        self.owner = owner
        self.breed = breed
    }
}
