// What an observer of sections is told: a change set in paths of section and row. A plain value.

/// One row of a sectioned collection that changed its place or its section.
public struct SectionedMove: Sendable, Hashable {
    /// Path in the old collection.
    public let from: RowPath
    /// Path in the new collection.
    public let to: RowPath
}

/// The difference of two states of a sectioned collection.
///
/// `deletedSections`, `deletions` and `modifications` count in the **old** collection; `insertedSections`, `insertions`
/// and `modificationsNew` in the **new** one. All arrays ascend. Apply in this order: remove the rows at `deletions`, then
/// the sections at `deletedSections` (each from the last to the first), insert empty sections at `insertedSections`, then
/// rows at `insertions` (ascending), and reload those at `modificationsNew`. The rows of a section that goes or comes are
/// listed too.
///
/// A row that moved, to another section or within its own, is in `moves`, and its ends are in `deletions` and
/// `insertions` as well.
public struct SectionedChangeSet: Sendable, Equatable {
    /// Old indices of sections that are gone.
    public internal(set) var deletedSections: [Int] = []
    /// New indices of sections that were not there.
    public internal(set) var insertedSections: [Int] = []
    /// Old paths of rows that left the collection, or moved.
    public internal(set) var deletions: [RowPath] = []
    /// New paths of rows that entered the collection, or moved.
    public internal(set) var insertions: [RowPath] = []
    /// Old paths of rows that were written and kept their place.
    public internal(set) var modifications: [RowPath] = []
    /// New paths of the same rows, in the same order.
    public internal(set) var modificationsNew: [RowPath] = []
    /// Ascending by `from`.
    public internal(set) var moves: [SectionedMove] = []
    /// The rows that left the collection, in the order of `deletions`.
    public internal(set) var deletedIDs: [ObjectID] = []

    /// Nothing changed. A section comes and goes with its rows.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension SectionedChangeSet {
    /// The changes of the whole run of rows, in paths. O(k log n).
    package init(_ changes: ChangeSet, from old: SectionedRows, to new: SectionedRows) {
        if let before = old.sections, let after = new.sections {
            (deletedSections, insertedSections) = SectionPlaces.changes(from: before, to: after)
        }
        var (old, new) = (old, new)
        deletions = changes.deletions.map { old.path(ofIndex: $0) }
        insertions = changes.insertions.map { new.path(ofIndex: $0) }
        modifications = changes.modifications.map { old.path(ofIndex: $0) }
        modificationsNew = changes.modificationsNew.map { new.path(ofIndex: $0) }
        moves = changes.moves.map { SectionedMove(from: old.path(ofIndex: $0.from), to: new.path(ofIndex: $0.to)) }
        deletedIDs = changes.deletedIDs
    }
}
