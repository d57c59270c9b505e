// Changes of single objects and of the whole store as asynchronous sequences.

/// A change of one object. Any thread.
public enum ObjectEvent: Sendable, Equatable {
    /// Properties were written, or the objects of a `@LinkingObjects` property changed.
    case changed([PropertyChange])
    /// The object was deleted. The sequence ends after this.
    case deleted

    /// Merges this event with a later one. Each property keeps its first old value and its last new one.
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

/// An event of the store on one connection. Any thread.
public struct StoreEvent: Sendable, Equatable {
    /// Event that the connection's observers were told.
    public let notification: StoreNotification
    /// Version of the connection at that event.
    public let version: UInt64
}

extension LiveObject {
    /// Returns the changes of this object as a sequence for any task. There is no initial element. Changes that a slow
    /// loop has not taken are merged. The sequence throws if the object's row cannot be read. On the connection's
    /// scheduler.
    /// - Parameter keyPaths: properties to report; nil for all.
    /// - Throws: `noScheduler` on a connection without a delivery context, `invalidatedObject`, `observedInWrite`,
    ///   `notStored`, `closed`, `openedBeforeFork`; `damaged` or `storage` if the row cannot be read; `unknownModel`
    ///   and `otherClass` if the key path of a `@LinkingObjects` property does not fit.
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
        channel.keep(token, of: core)
        return LiveChanges(source: PendingSource(channel) { $0 })
    }
}

extension Connection {
    /// Returns the events of the store as a sequence for any task. A slow loop gets the last event only. On this
    /// connection's scheduler.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`.
    public func changes(file: String = #fileID, line: Int = #line) throws -> LiveChanges<StoreEvent> {
        let channel = ChangeChannel<StoreEvent> { $1 }
        let made = ChangeChannel.Source(channel)
        let token = try observe(file: file, line: line) { notification, connection in
            made.channel.offer(StoreEvent(notification: notification, version: connection.version))
        }
        channel.keep(token, of: core)
        return LiveChanges(source: PendingSource(channel) { $0 })
    }
}
