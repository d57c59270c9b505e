// Which columns a key path names: found by reading it on an object that notes what is read. A property of the class itself is noted by
// the key path's address, as a place in the program has one key path for good.
import StillingWellBasis

extension ColumnPath {
    private static let known = PointerCache("columns of key paths")

    /// The path that `keyPath` names. Stops the program where it names anything but stored properties.
    public init<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) {
        if let column = Self.known.value(Unmanaged.passUnretained(keyPath).toOpaque()) {
            self.init([column])
            return
        }
        self.init(reading: keyPath)
        guard columns.count == 1 else { return }
        // One that is kept lives for ever, so that no other comes to lie at its address.
        let held = Unmanaged.passRetained(keyPath)
        if !Self.known.keep(column, held.toOpaque()) { held.release() }
    }

    private init<Object: StoredObject>(reading keyPath: PartialKeyPath<Object>) {
        let object = Object()
        let trace = AccessTrace(object)
        object.trace = trace
        _ = object[keyPath: keyPath]
        stopUnless(
            trace.isPath && !trace.columns.isEmpty,
            "a query can name @Stored, @Linked and @Listed properties of \(Object.self), and \(keyPath) is not one")
        self.init(trace.columns)
    }

    /// The property that the path ends at, compared as `Value`. A list is compared by its count.
    func property<Object: StoredObject, Value: StorableValue>(
        of keyPath: KeyPath<Object, Value>, _: Value.Type
    ) -> ModelLayout.Property {
        let layout = links.reduce(ModelLayout.of(Object.self)) { ModelLayout.of($0.properties[$1].target!) }
        let property = layout.properties[column]
        stopUnless(
            property.type == .list ? Value._columnType == .int : property.wrapper.isRead(as: Value.self),
            "\(keyPath) is not a stored property, but something computed from '\(property.name)'; compare that one")
        return property
    }
}
