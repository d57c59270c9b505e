// How a key path becomes columns: it is read on an object that stands for none, and what is read notes itself here.

final class AccessTrace {
    private(set) var columns: [Int] = []
    /// The key paths of the properties that are read, and of the count that a list at the end may be followed by.
    private var properties: [AnyKeyPath] = []
    private var count: AnyKeyPath?
    /// Offset in its object of the backlink property that is read.
    private(set) var backlinkOffset: Int?
    /// False once something was read that is not on the way.
    private(set) var isPath = true
    /// What a stored property is read as; nil for its own value.
    let sample: (any StorableValue)?
    /// Whose property comes next; nil behind the last one.
    private var place: StoredObject?

    init(_ start: StoredObject, sample: (any StorableValue)? = nil) {
        place = start
        self.sample = sample
    }

    func note(_ owner: StoredObject, _ column: Int, _ property: AnyKeyPath, count: AnyKeyPath? = nil) {
        isPath = isPath && owner === place
        columns.append(column)
        properties.append(property)
        self.count = count
        place = nil
    }

    /// A property of `owner` is read that is the way back along links.
    func noteBacklink(_ owner: StoredObject, _ property: AnyKeyPath, at offset: Int) {
        isPath = isPath && owner === place
        properties.append(property)
        backlinkOffset = offset
        place = nil
    }

    /// A link of `owner` is read: the way goes on at an object that stands for the one it leads to.
    func follow<Target: StoredObject>(
        _ owner: StoredObject, _ column: Int, _ property: AnyKeyPath, to _: Target.Type
    ) -> Target {
        note(owner, column, property)
        let target = Target()
        target.trace = self
        place = target
        return target
    }

    /// Whether `keyPath` consists of the properties that were read. A computed property that reads them is another one, whatever it returns.
    func likeness(to keyPath: AnyKeyPath) -> KeyPathIdentity.Likeness {
        guard let whole = KeyPathIdentity(keyPath) else { return .other }
        let parts = properties.compactMap(KeyPathIdentity.init)
        guard parts.count == properties.count, let first = parts.first else { return .other }
        let read = parts.dropFirst().reduce(first, +)
        let likeness = whole.likeness(to: read)
        guard likeness == .other, let count = count.flatMap(KeyPathIdentity.init) else { return likeness }
        return whole.likeness(to: read + count)
    }
}
