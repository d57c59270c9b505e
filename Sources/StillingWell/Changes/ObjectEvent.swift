// Single objects and the store as a whole as sequences of values for any task.

/// What happened to one object. For any thread.
public enum ObjectEvent: Sendable, Equatable {
    /// Properties were written: from the values of the last element to those of now.
    case changed([PropertyChange])
    /// The object is gone; the sequence ends after this.
    case deleted

    /// This event and a later one as one: each property from its first old value to its last new one.
    func merged(with later: ObjectEvent) -> ObjectEvent {
        guard case .changed(var changes) = self, case .changed(let more) = later else { return later }
        for change in more {
            guard let known = changes.firstIndex(where: { $0.name == change.name }) else {
                changes.append(change)
                continue
            }
            changes[known] = PropertyChange(
                name: change.name, oldValue: changes[known].oldValue, newValue: change.newValue)
        }
        return .changed(changes)
    }
}

/// The store has moved on, as one connection sees it. For any thread.
public struct StoreEvent: Sendable, Equatable {
    /// What the connection's observers were told last.
    public let notification: StoreNotification
    /// The version the connection stood at then.
    public let version: UInt64
}

extension LiveObject {
    /// What happens to this object as a sequence, for any task. There is no first element for what is there already;
    /// what a slow loop has not taken is merged. It throws when the object's row cannot be read. On the connection's
    /// scheduler.
    /// - Parameter keyPaths: the properties to hear of; nil means all.
    /// - Throws: `noScheduler` on a connection that lives for one block, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`.
    public func changes(
        keyPaths: [PartialKeyPath<Self>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<ObjectEvent> {
        guard let core = binding?.connection.core else { throw StoreError.notStored(type: "\(type(of: self))") }
        let channel = ChangeChannel<ObjectEvent> { $0.merged(with: $1) }
        let made = ChangeChannel.Source(channel)
        let token = try observe(keyPaths: keyPaths, file: file, line: line) { change in
            switch change {
            case .change(_, let changes): made.channel.offer(.changed(changes))
            case .deleted:
                made.channel.offer(.deleted)
                made.channel.finish()
            case .error(let error): made.channel.finish(error)
            }
        }
        return PendingSource(channel) { $0 }.keep(token, of: core)
    }
}

extension Connection {
    /// What happens to the store as a sequence, for any task; of what a slow loop has not taken, the last. On this
    /// connection's scheduler.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func changes(file: String = #fileID, line: Int = #line) throws -> LiveChanges<StoreEvent> {
        let channel = ChangeChannel<StoreEvent> { $1 }
        let made = ChangeChannel.Source(channel)
        let token = try observe(file: file, line: line) { notification, connection in
            made.channel.offer(StoreEvent(notification: notification, version: connection.version))
        }
        return PendingSource(channel) { $0 }.keep(token, of: core)
    }
}
