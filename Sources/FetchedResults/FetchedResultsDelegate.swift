// What a controller's delegate is told, and in which order: that of NSFetchedResultsController.
import LiveStore

/// What happened to an object or a section.
public enum FetchedChangeType: Sendable, Equatable {
    case insert
    case delete
    case move
    case update
}

/// Is told what changed in a controller, change by change, between `willChangeContent` and `didChangeContent`: sections
/// that are gone (from the last to the first), sections that are new (from the first to the last); then objects: deleted
/// (from the last to the first), inserted (from the first to the last), moved, updated.
///
/// Old paths count in what was shown before all of it, new paths in what is shown after: a table may apply them in one
/// batch. Called where the controller's connection is, with no lock held: a delegate may write, fetch again and end the
/// controller.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    associatedtype Object: StoredObject

    /// The content is about to change, or to be there for the first time. What the controller shows is new already.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
    /// A section came or went.
    func controller(
        _ controller: FetchedResultsController<Object>, didChangeSectionAt index: Int, for type: FetchedChangeType)
    /// An object came, went, moved or was written.
    /// - Parameters:
    ///   - object: which, for any thread; one that was deleted is not there any more.
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
        _ controller: FetchedResultsController<Object>, didChangeSectionAt index: Int, for type: FetchedChangeType
    ) {}
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: SafeObject<Object>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?
    ) {}
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
    public func controller(_ controller: FetchedResultsController<Object>, didFailWith error: StoreError) {}
}

extension FetchedResultsControllerDelegate {
    /// Tells all of a change set, in the order that is promised.
    /// - Parameter rows: those after the changes.
    func tell(
        _ changes: SectionedChangeSet, _ rows: SectionedRows, _ controller: FetchedResultsController<Object>
    ) {
        controllerWillChangeContent(controller)
        for index in changes.deletedSections.reversed() {
            self.controller(controller, didChangeSectionAt: index, for: .delete)
        }
        for index in changes.insertedSections { self.controller(controller, didChangeSectionAt: index, for: .insert) }
        let movedFrom = Set(changes.moves.map(\.from))
        let movedTo = Set(changes.moves.map(\.to))
        let deleted = zip(changes.deletions.filter { !movedFrom.contains($0) }, changes.deletedIDs)
        for (path, id) in Array(deleted).reversed() {
            self.controller(controller, didChange: SafeObject(id: id), at: path, for: .delete, newPath: nil)
        }
        for path in changes.insertions where !movedTo.contains(path) {
            let object = SafeObject<Object>(id: rows.objectID(at: path))
            self.controller(controller, didChange: object, at: nil, for: .insert, newPath: path)
        }
        for move in changes.moves {
            let object = SafeObject<Object>(id: rows.objectID(at: move.to))
            self.controller(controller, didChange: object, at: move.from, for: .move, newPath: move.to)
        }
        for (path, newPath) in zip(changes.modifications, changes.modificationsNew) {
            let object = SafeObject<Object>(id: rows.objectID(at: newPath))
            self.controller(controller, didChange: object, at: path, for: .update, newPath: newPath)
        }
        controllerDidChangeContent(controller)
    }
}
