// Observing one object: which properties changed, from what to what, that it was deleted, or that nobody can say.

/// What the observer of an object is told.
public enum ObjectChange<Object: StoredObject> {
    /// Properties were written since the last delivery; one that was set to the value it had is among them.
    case change(Object, [PropertyChange])
    /// The object is gone; no further call comes.
    case deleted
    /// The object was written or deleted, and its row cannot be read when that is to be told: the file is damaged, or
    /// cannot be reached. No further call comes.
    case error(StoreError)
}

/// What every `StoredObject` is: a name for `Self` in its methods, which an extension of the class does not have.
public protocol LiveObject: StoredObject {}
extension StoredObject: LiveObject {}

extension LiveObject {
    /// Calls `body` on the connection's scheduler when properties of this object were written, or it was deleted. There
    /// is no initial call; several commits may come as one, with the values of the last delivery as the old ones.
    ///
    /// O(1) per commit that does not touch the object. Of `@LinkingObjects` it is told when other objects lead here, which costs
    /// the look at two rows for each changed object of that class.
    /// - Parameter keyPaths: the properties to hear of; nil means all.
    /// - Throws: `noScheduler` on a connection that lives for one block, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`; `unknownModel` and `otherClass` for a key path of `@LinkingObjects` that nothing leads along.
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
