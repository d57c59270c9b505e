// The change of a sectioned collection in paths of section and row. A plain value.

/// The difference of two states of a sectioned collection.
///
/// `deletedSections`, `deletions` and `modifications` count in the **old** collection; `insertedSections`, `insertions`
/// and `modificationsNew` in the **new** one. All arrays of indices and paths ascend. Apply in this order: remove the
/// rows at `deletions`, then the sections at `deletedSections` (each from the last to the first), insert empty sections
/// at `insertedSections`, then rows at `insertions` (ascending), and reload those at `modificationsNew`. Rows of a
/// deleted or inserted section are listed too.
///
/// A row that moved, within its section or to another, is in `moves`. Its old and new path are also in `deletions` and
/// `insertions`.
public struct SectionedChangeSet: Sendable, Equatable {
    /// Old indices of deleted sections.
    public internal(set) var deletedSections: [Int] = []
    /// New indices of inserted sections.
    public internal(set) var insertedSections: [Int] = []
    /// Old paths of rows that left the collection, or moved.
    public internal(set) var deletions: [RowPath] = []
    /// New paths of rows that entered the collection, or moved.
    public internal(set) var insertions: [RowPath] = []
    /// Old paths of rows that changed and kept their place.
    public internal(set) var modifications: [RowPath] = []
    /// New paths of the same rows, in the same order.
    public internal(set) var modificationsNew: [RowPath] = []
    /// Rows that moved, ascending by `from`.
    public internal(set) var moves: [Move<RowPath>] = []
    /// Ids of the rows that left the collection, moved ones excluded, in the order of `deletions`.
    public internal(set) var deletedIDs: [ObjectID] = []

    /// Whether nothing changed. Sections change only together with rows.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension SectionedChangeSet {
    /// Converts a change set of all rows to paths.
    package init(_ changes: ChangeSet, from old: SectionedRows, to new: SectionedRows) {
        if let before = old.sections, let after = new.sections {
            (deletedSections, insertedSections) = SectionPlaces.changes(from: before, to: after)
        }
        var (old, new) = (old, new)
        deletions = changes.deletions.map { old.path(ofIndex: $0) }
        insertions = changes.insertions.map { new.path(ofIndex: $0) }
        modifications = changes.modifications.map { old.path(ofIndex: $0) }
        modificationsNew = changes.modificationsNew.map { new.path(ofIndex: $0) }
        moves = changes.moves.map { Move(from: old.path(ofIndex: $0.from), to: new.path(ofIndex: $0.to)) }
        deletedIDs = changes.deletedIDs
    }
}
