// Resolves key paths to columns by reading them on an object that records the reads. A key path of one property is
// cached by its address, because a place in the program usually uses the same key path object each time.
import StillingWellBasis
import StillingWellSync

extension ColumnPath {
    private static let known = PointerCache("columns of key paths")
    /// Columns of key paths that generic code creates again at each use. The program's code limits their number.
    /// Guarded by `provenLock` and not by `Guarded`, because key paths are not Sendable for the compiler.
    nonisolated(unsafe) private static var proven: [AnyKeyPath: ColumnPath] = [:]
    private static let provenLock = TracedMutex("paths of generic key paths")

    /// Makes the path that `keyPath` names. Stops the program if it names anything except stored properties and, at its
    /// end, the count of a list.
    init<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) {
        if let column = Self.known.value(ObjectPointer.borrowed(keyPath)) {
            self.init([column])
            return
        }
        // Looked up in a copy, because hashing a key path's arguments runs application code, which must not run under a
        // lock.
        let proven = Self.provenLock.withLock { Self.proven }
        if let path = proven[keyPath] {
            self = path
            return
        }
        self = Self.read(keyPath)
        guard columns.count == 1 else { return }
        // A cached key path is never released, so that no other key path gets its address.
        let held = ObjectPointer.kept(keyPath)
        if !Self.known.keep(column, held) { ObjectPointer.release(held) }
    }

    private static func read<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> ColumnPath {
        switch resolve(keyPath) {
        case .success(let path): return path
        case .failure(let refusal): stopProgram(refusal.text)
        }
    }

    struct Refusal: Error {
        let text: String
    }

    /// Returns the path that `keyPath` names, or why it names none.
    static func resolve<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> Result<ColumnPath, Refusal> {
        let object = Object()
        let trace = AccessTrace(object)
        object.trace = trace
        _ = object[keyPath: keyPath]
        guard trace.isPath, !trace.columns.isEmpty else {
            let wanted = "a query can name @Stored, @Linked and @Listed properties of \(Object.self)"
            return .failure(Refusal(text: "\(wanted), and \(keyPath) is not one"))
        }
        let path = ColumnPath(trace.columns)
        switch trace.likeness(to: keyPath) {
        case .same: return .success(path)
        case .other: return .failure(path.computed(keyPath))
        case .unknown:
            // Generic code may name a protocol requirement. Sample values tell whether a stored property implements it.
            let isStored = path.property(of: Object.self).wrapper.isUnchanged { sample in
                let object = Object()
                object.trace = AccessTrace(object, sample: sample)
                return object[keyPath: keyPath]
            }
            guard isStored else { return .failure(path.computed(keyPath)) }
            // If two threads store at once, one entry may be lost. Its path is then resolved again.
            var copy = provenLock.withLock { proven }
            copy[keyPath] = path
            provenLock.withLock { proven = copy }
            return .success(path)
        }
    }

    private func computed<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> Refusal {
        let name = property(of: Object.self).name
        return Refusal(
            text: "\(keyPath) is not a stored property, but something computed from '\(name)'; compare that one")
    }

    private func property(of type: StoredObject.Type) -> ModelLayout.Property {
        links.reduce(ModelLayout.of(type)) { ModelLayout.of($0.properties[$1].target!) }.properties[column]
    }

    /// Returns the property that the path ends at. Stops the program if it cannot be compared as `Value`. A list is
    /// compared by its count.
    func property<Object: StoredObject, Value: StorableValue>(
        of keyPath: KeyPath<Object, Value>, _: Value.Type
    ) -> ModelLayout.Property {
        let property = property(of: Object.self)
        stopUnless(
            property.type == .list ? Value._columnType == .int : property.wrapper.isRead(as: Value.self),
            computed(keyPath).text)
        return property
    }
}

extension ModelLayout {
    /// Returns the backlink property that a key path names, or nil.
    func backlink<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> BacklinkProperty? {
        if backlinks.isEmpty { return nil }
        let object = Object()
        let trace = AccessTrace(object)
        object.trace = trace
        _ = object[keyPath: keyPath]
        guard let offset = trace.backlinkOffset, trace.isPath, trace.likeness(to: keyPath) != .other else {
            return nil
        }
        return backlinks.first { $0.offset == offset }
    }
}
