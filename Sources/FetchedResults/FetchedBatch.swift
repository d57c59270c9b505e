// One batch of changes while a delegate is notified of it. On the connection's scheduler.
import StillingWell

/// The content shown while a batch is reported: the rows before it in `willChangeContent`, those after it from the
/// first change to `didChangeContent`. Writes made meanwhile are reported in a later batch.
final class FetchedBatch {
    private(set) var rows: SectionedRows
    /// Path of each row, computed on first use.
    private var knownPaths: [ObjectID: RowPath]?

    init(before rows: SectionedRows) { self.rows = rows }

    func show(_ rows: SectionedRows) {
        self.rows = rows
        knownPaths = nil
    }

    /// Returns the path of a row, or nil.
    func path(of id: ObjectID) -> RowPath? {
        let paths = knownPaths ?? rows.paths
        knownPaths = paths
        return paths[id]
    }
}

/// A call of a delegate between `willChangeContent` and `didChangeContent`.
enum FetchedChange {
    /// An index in the old sections for a deletion, in the new ones for an insertion.
    case section(Int, FetchedChangeType)
    case object(ObjectID, FetchedChangeType, from: RowPath?, to: RowPath?)

    /// Returns the calls for a change set, in the order documented at `FetchedResultsControllerDelegate`. A move out of
    /// a deleted section, or into an inserted one, becomes a deletion and an insertion: table views refuse such moves.
    /// - Parameter rows: the rows after the changes.
    static func all(_ changes: SectionedChangeSet, _ rows: SectionedRows) -> [FetchedChange] {
        var all: [FetchedChange] = []
        all += changes.deletedSections.reversed().map { .section($0, .delete) }
        all += changes.insertedSections.map { .section($0, .insert) }
        let (gone, new) = (Set(changes.deletedSections), Set(changes.insertedSections))
        let moves = changes.moves.filter { !gone.contains($0.from.section) && !new.contains($0.to.section) }
        let (movedFrom, movedTo) = (Set(moves.map(\.from)), Set(moves.map(\.to)))
        // Rows that moved have no entry in `deletedIDs`.
        let destinations = Dictionary(changes.moves.map { ($0.from, $0.to) }) { first, _ in first }
        var deletedIDs = changes.deletedIDs[...]
        let deleted: [(RowPath, ObjectID)] = changes.deletions.compactMap { path in
            guard let destination = destinations[path] else { return deletedIDs.popFirst().map { (path, $0) } }
            return movedFrom.contains(path) ? nil : (path, rows.objectID(at: destination))
        }
        all += deleted.reversed().map { .object($1, .delete, from: $0, to: nil) }
        all += changes.insertions.filter { !movedTo.contains($0) }.map {
            .object(rows.objectID(at: $0), .insert, from: nil, to: $0)
        }
        all += moves.map { .object(rows.objectID(at: $0.to), .move, from: $0.from, to: $0.to) }
        all += zip(changes.modifications, changes.modificationsNew).map {
            .object(rows.objectID(at: $1), .update, from: $0, to: $1)
        }
        return all
    }
}
