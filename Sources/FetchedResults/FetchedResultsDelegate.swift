// What a controller's delegate is told, and in which order: that of NSFetchedResultsController.
import StillingWell

/// What happened to an object or a section.
public enum FetchedChangeType: Sendable, Equatable {
    case insert
    case delete
    case move
    case update
}

/// Is told what changed in a controller, change by change, between `willChangeContent` and `didChangeContent`: sections
/// that are gone (from the last to the first), sections that are new (from the first to the last); then objects: deleted
/// (from the last to the first), inserted (from the first to the last), moved, updated. A move out of a section that is gone, or
/// into one that is new, is told as a deletion and an insertion.
///
/// Old paths count in what was shown before all of it, new paths in what is shown after: a table may apply them in one
/// batch. In `willChangeContent` the controller shows the old content, then the new one, and that does not change before
/// `didChangeContent` has returned. An object that was deleted from the store is invalidated throughout.
///
/// Called where the controller's connection is, with no lock held: a delegate may write, and what it writes is told in a
/// later batch. It may fetch again, end the controller and take itself away; then nothing more of the batch is told, its
/// `didChangeContent` neither, and who applies changes to a table reads it anew.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    associatedtype Object: StoredObject

    /// The content is about to change, or to be there for the first time. The controller still shows the old one.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
    /// A section came or went.
    /// - Parameters:
    ///   - section: as it is now; one that went, as it was, with objects that may be invalidated.
    ///   - index: in the new sections for `insert`, in the old ones for `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedSection<Object>,
        atSectionIndex index: Int, for type: FetchedChangeType)
    /// An object came, went, moved or was written.
    /// - Parameters:
    ///   - object: which, for any thread; one that was deleted from the store is not there any more.
    ///   - path: its old path; nil for `insert`.
    ///   - newPath: its new path; nil for `delete`.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: SafeObject<Object>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?)
    /// All changes have been told.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
    /// The query cannot be kept any more. Nothing further is told until the next `performFetch`.
    func controller(_ controller: FetchedResultsController<Object>, didFailWith error: StoreError)
}

/// Who does not need them leaves them out.
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
