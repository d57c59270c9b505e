// The delegate of a controller. The order of calls is that of NSFetchedResultsController.
import StillingWell

/// The kind of a change of an object or a section.
public enum FetchedChangeType: Sendable, Equatable {
    case insert
    case delete
    case move
    case update
}

/// Receives the changes of a controller one by one, between `willChangeContent` and `didChangeContent`. The order is:
/// sections deleted (last to first), sections inserted (first to last), objects deleted (last to first), inserted
/// (first to last), moved, updated. A move out of a deleted section, or into an inserted one, is reported as a deletion
/// and an insertion.
///
/// Old paths count in the content before the batch, new paths in the content after it, so that a table can apply them
/// in one batch. In `willChangeContent` the controller shows the old content, then the new one until `didChangeContent`
/// has returned. An object that was deleted from the store is invalidated throughout.
///
/// Called on the scheduler of the controller's connection, with no lock of the store held. A delegate may write; these
/// changes are reported in a later batch. It may also fetch again, end the controller or replace the delegate. The
/// batch then ends without `didChangeContent`, and a table must be reloaded.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    associatedtype Object: StoredObject

    /// Called before the content changes, or is there for the first time. The controller still shows the old content.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
    /// A section was inserted or deleted.
    /// - Parameters:
    ///   - section: an inserted section as it is now; a deleted one as it was, with objects that may be invalidated.
    ///   - index: in the new sections for `insert`, in the old ones for `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedSection<Object>,
        atSectionIndex index: Int, for type: FetchedChangeType)
    /// An object was inserted, deleted, moved or written.
    /// - Parameters:
    ///   - object: reference to the object, for any thread. An object deleted from the store cannot be resolved.
    ///   - path: its old path; nil for `insert`.
    ///   - newPath: its new path; nil for `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: SafeObject<Object>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?)
    /// Called after all changes of the batch.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
    /// The query cannot be maintained any more. Nothing further is reported until the next `performFetch`.
    func controller(_ controller: FetchedResultsController<Object>, didFailWith error: StoreError)
}

/// Default implementations, which do nothing.
extension FetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedSection<Object>,
        atSectionIndex index: Int, for type: FetchedChangeType
    ) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: SafeObject<Object>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?
    ) {}
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
    public func controller(_ controller: FetchedResultsController<Object>, didFailWith error: StoreError) {}
}
