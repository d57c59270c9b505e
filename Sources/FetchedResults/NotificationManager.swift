// Rebroadcasts what change loggers have seen committed. No state of its own but the centre's.
import StillingWell
import TypedNotifications

/// What one commit did to the objects that a change logger was told of, for any thread.
public struct EntityChanges: TypedNotification {
    public typealias Poster = ChangeLogger

    /// Where the store is.
    public let path: String
    /// What the store's safe objects name it by.
    let storePath: String
    let entries: [LoggedObject]

    /// Objects of a class that were added.
    public func added<Object: StoredObject>(_ type: Object.Type) -> [SafeObject<Object>] { objects(type, .added) }
    /// Objects of a class that were changed, and neither added nor deleted.
    public func changed<Object: StoredObject>(_ type: Object.Type) -> [SafeObject<Object>] { objects(type, .changed) }
    /// Objects of a class that were deleted, and had been there before.
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

/// Tells listeners of all changes that loggers of this program have seen committed, before the call that committed them
/// returns. Any thread.
public final class NotificationManager: Sendable {
    /// The one there is.
    public static let shared = NotificationManager()

    let center = TypedNotificationCenter()

    /// Has a block told, on the thread that commits or on a queue or run loop, for as long as the subscription is kept.
    public func addListener(
        on place: NotificationPlace = .poster, _ body: @escaping @Sendable (EntityChanges) -> Void
    ) -> NotificationSubscription { center.subscribe(to: EntityChanges.self, on: place, body) }

    /// Has a block told of commits that did something to objects of a class, and of those objects alone.
    public func addListener<Object: StoredObject>(
        to type: Object.Type, on place: NotificationPlace = .poster, _ body: @escaping @Sendable (EntityChanges) -> Void
    ) -> NotificationSubscription {
        let type = ObjectIdentifier(type)
        return addListener(on: place) { changes in changes.only(type).map(body) }
    }
}
