// Observing one object: changed properties with their old and new values, deletion, and read errors.

/// An event of an observed object.
public enum ObjectChange<Object: StoredObject> {
    /// Properties were written since the last delivery, including those that were set to an equal value, or the objects
    /// of a `@LinkingObjects` property changed.
    case change(Object, [PropertyChange])
    /// The object was deleted. No further call comes.
    case deleted
    /// Changes of the object cannot be read any more. No further call comes.
    case error(StoreError)
}

/// A protocol that every `StoredObject` conforms to. It gives methods a `Self`, which an extension of the class lacks.
public protocol LiveObject: StoredObject {}
extension StoredObject: LiveObject {}

extension LiveObject {
    /// Calls `body` on the connection's scheduler when properties of this object were written or the object was
    /// deleted. There is no initial call. One call may report several commits.
    ///
    /// O(1) per commit that does not touch the object. For `@LinkingObjects` properties, reads two rows per object of
    /// the linking class, or list element, whose link was written.
    /// - Parameter keyPaths: properties to report; nil for all.
    /// - Throws: `noScheduler` on a connection without a delivery context, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`, `openedBeforeFork`; `damaged` or `storage` if the row cannot be read; `unknownModel`
    ///   and `otherClass` if the key path of a `@LinkingObjects` property does not fit.
    public func observe(
        keyPaths: [PartialKeyPath<Self>]? = nil, file: String = #fileID, line: Int = #line,
        _ body: @escaping (ObjectChange<Self>) -> Void
    ) throws -> NotificationToken {
        guard let binding else { throw StoreError.notStored(type: "\(type(of: self))") }
        let properties = try observed(keyPaths, binding)
        return try binding.connection.observe(binding, properties, madeAt: "\(file):\(line)") { [self] change in
            switch change {
            case .change(let changes): body(.change(self, changes))
            case .deleted: body(.deleted)
            case .failed(let error): body(.error(error))
            }
        }
    }
}
