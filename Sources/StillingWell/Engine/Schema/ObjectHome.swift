// Location of an object. Its id alone is not unique: other stores and classes use the same ids for other objects.

/// Store and class of an object. Any thread.
struct ObjectHome: Sendable {
    /// Storage of the object, to compare by identity.
    let storage: any AnyObject & Sendable
    /// Path with which the store was opened.
    let path: String
    /// Name of the class and of its table.
    let type: String

    init(storage: any AnyObject & Sendable, path: String, type: String) {
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
