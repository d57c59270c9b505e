// Queries, objects and observers of a connection as upkeep and the mailbox know them. See also folder Connections.
import Synchronization

/// A query of one connection.
///
/// Unchecked because `mailSlot` changes, which the mailbox's lock guards.
class QueryHandle: @unchecked Sendable {
    final let plan: QueryPlan
    final let table: Table
    final let window: TreeWindow
    /// Index of the waiting update in the mailbox, −1 if there is none. Guarded by the mailbox's lock.
    final var mailSlot = -1

    init(_ plan: QueryPlan, _ table: Table) {
        self.plan = plan
        self.table = table
        window = plan.window
    }
}

/// An object with one observer of a connection.
final class ObjectHandle: Sendable {
    let table: Table
    let id: ObjectID
    /// Backlink properties that are observed.
    let backlinks: [Backlink]
    /// Version at which the observer was added. Changes up to it are not reported.
    let since: UInt64
    /// Index of the waiting update in the mailbox, −1 if there is none. Guarded by the mailbox's lock.
    let mailSlot = Atomic(-1)

    init(_ table: Table, _ id: ObjectID, backlinks: [Backlink], since: UInt64) {
        self.table = table
        self.id = id
        self.backlinks = backlinks
        self.since = since
    }
}

/// An observer that a write excludes from its notification (`withoutNotifying:`).
protocol SilencedObserver: AnyObject, Sendable {
    /// Observed query, or nil for an observer of an object or of the store.
    var observedQuery: QueryHandle? { get }
    /// Whether its initial callback is still pending. Any thread.
    var isWaiting: Bool { get }
}
