// Posts the committed changes of change loggers. No state besides the notification center.
import StillingWell
import TypedNotifications

/// The changes of one commit that a change logger recorded. Any thread.
public struct EntityChanges: TypedNotification {
    public typealias Poster = ChangeLogger

    /// Path with which the store was opened.
    public let path: String
    /// Folder of the store, as in `SafeObject.storePath`.
    let storePath: String
    let entries: [LoggedObject]

    /// Returns the added objects of a class.
    public func added<Object: StoredObject>(_ type: Object.Type) -> [SafeObject<Object>] { objects(type, .added) }
    /// Returns the changed objects of a class that were neither added nor deleted.
    public func changed<Object: StoredObject>(_ type: Object.Type) -> [SafeObject<Object>] { objects(type, .changed) }
    /// Returns the deleted objects of a class that existed before the commit.
    public func deleted<Object: StoredObject>(_ type: Object.Type) -> [SafeObject<Object>] { objects(type, .deleted) }

    func only(_ type: ObjectIdentifier) -> EntityChanges? {
        let own = entries.filter { $0.type == type }
        return own.isEmpty ? nil : EntityChanges(path: path, storePath: storePath, entries: own)
    }

    private func objects<Object: StoredObject>(
        _ type: Object.Type, _ change: LoggedObject.Change
    ) -> [SafeObject<Object>] {
        entries.filter { $0.type == ObjectIdentifier(type) && $0.change == change }.map {
            SafeObject(id: $0.id, storePath: storePath)
        }
    }
}

struct LoggedObject: Sendable, Equatable {
    enum Change: Sendable {
        case added
        case changed
        case deleted
    }

    let type: ObjectIdentifier
    let id: ObjectID
    let change: Change
}

/// Calls listeners with the changes of all loggers in this program: those on the committing thread before
/// `writeWithNotification` returns, others on their queue or run loop. Any thread.
public final class NotificationManager: Sendable {
    /// Shared instance.
    public static let shared = NotificationManager()

    let center = TypedNotificationCenter()

    /// Adds a listener, called on the committing thread, or on a queue or run loop, while the subscription is held.
    public func addListener(
        on place: NotificationPlace = .poster, _ body: @escaping @Sendable (EntityChanges) -> Void
    ) -> NotificationSubscription { center.subscribe(to: EntityChanges.self, on: place, body) }

    /// Adds a listener for the logged objects of a class. It is not called for commits without any.
    public func addListener<Object: StoredObject>(
        to type: Object.Type, on place: NotificationPlace = .poster, _ body: @escaping @Sendable (EntityChanges) -> Void
    ) -> NotificationSubscription {
        let type = ObjectIdentifier(type)
        return addListener(on: place) { changes in changes.only(type).map(body) }
    }
}
