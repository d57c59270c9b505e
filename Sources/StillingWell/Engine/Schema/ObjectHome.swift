// Where an object is stored. Its number alone does not say so: another store, and another class, give the same number to
// other objects.

/// The store and the class that an object's number belongs to. Any thread.
struct ObjectHome: Sendable {
    let storage: Storage
    /// As the store was opened.
    let path: String
    /// The name of the class, and of its table.
    let type: String

    init(storage: Storage, path: String, type: String) {
        self.storage = storage
        self.path = path
        self.type = type
    }
}

extension ObjectHome: Hashable {
    static func == (left: ObjectHome, right: ObjectHome) -> Bool {
        left.storage === right.storage && left.type == right.type
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(storage))
        hasher.combine(type)
    }
}
