// Queries, objects and observers of a connection as upkeep and the mailbox know them. What they are told, and by whom, is
// the connection's (folder Connections).
import Synchronization

/// A query of one connection.
///
/// Unchecked because `mailSlot` changes, which the mailbox's lock guards.
class QueryHandle: @unchecked Sendable {
    final let plan: QueryPlan
    final let table: Table
    final let window: TreeWindow
    /// Place of the waiting update in the mailbox, −1 when there is none. Guarded by the mailbox's lock.
    final var mailSlot = -1

    init(_ plan: QueryPlan, _ table: Table) {
        self.plan = plan
        self.table = table
        window = plan.window
    }
}

/// An object that one observer of a connection is told of.
final class ObjectHandle: Sendable {
    let table: Table
    let id: ObjectID
    /// Backlink properties whose changes are told.
    let backlinks: [Backlink]
    /// Changes up to this version were made before there was the observer.
    let since: UInt64
    /// Place of the waiting news in the mailbox, −1 when there is none. Guarded by the mailbox's lock.
    let mailSlot = Atomic(-1)

    init(_ table: Table, _ id: ObjectID, backlinks: [Backlink], since: UInt64) {
        self.table = table
        self.id = id
        self.backlinks = backlinks
        self.since = since
    }
}

/// An observer that a commit names because it is not to hear of it.
protocol SilencedObserver: AnyObject, Sendable {
    /// The query whose rows it is told of; nil for an observer of an object or of the store.
    var observedQuery: QueryHandle? { get }
    /// Whether its initial callback is still to come. Any thread.
    var isWaiting: Bool { get }
}
