// Resolves a key path to columns: the key path is read on an object that is not stored, and the properties record their
// reads here.

final class AccessTrace {
    private(set) var columns: [Int] = []
    /// Key paths of the properties read.
    private var properties: [AnyKeyPath] = []
    /// Key path of the count that may follow a list at the end.
    private var count: AnyKeyPath?
    /// Offset of the backlink property read, within its object.
    private(set) var backlinkOffset: Int?
    /// False once a property was read that does not continue the path.
    private(set) var isPath = true
    /// Value that stored properties read as. nil for their own value.
    let sample: (any StorableValue)?
    /// Object whose property comes next. nil at the end of the path.
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

    /// Records the read of a backlink property of `owner`.
    func noteBacklink(_ owner: StoredObject, _ property: AnyKeyPath, at offset: Int) {
        isPath = isPath && owner === place
        properties.append(property)
        backlinkOffset = offset
        place = nil
    }

    /// Records the read of a link of `owner`. Returns a new object in place of the link's target, on which the path
    /// continues.
    func follow<Target: StoredObject>(
        _ owner: StoredObject, _ column: Int, _ property: AnyKeyPath, to _: Target.Type
    ) -> Target {
        note(owner, column, property)
        let target = Target()
        target.trace = self
        place = target
        return target
    }

    /// Compares `keyPath` with the properties read. A computed property that reads them differs from them, whatever it
    /// returns.
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
