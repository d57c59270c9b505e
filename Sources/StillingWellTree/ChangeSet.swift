// The difference of two states of a collection. A plain value.

/// A row that moved to another place of its collection.
///
/// Its position is an index, or a path of section and row in sectioned results.
public struct Move<Position: Hashable & Sendable>: Sendable, Hashable {
    /// Position in the old collection.
    public let from: Position
    /// Position in the new collection.
    public let to: Position

    /// Makes a move from an old position to a new one.
    package init(from: Position, to: Position) {
        self.from = from
        self.to = to
    }
}

/// The difference of two states of a collection, in indices.
///
/// There are two index spaces: `deletions` and `modifications` count in the **old** collection, `insertions` and
/// `modificationsNew` in the **new** one. All arrays of indices ascend. Apply in this order: remove the rows at
/// `deletions` (from the last to the first, or all at once), insert those at `insertions` in ascending order, then
/// reload those at `modificationsNew`.
///
/// A moved row is in `moves`, and its old and new index are also in `deletions` and `insertions`. It is not in the
/// modifications. Rows whose sort key did not change keep their place, and as many of the others as possible.
public struct ChangeSet: Sendable, Equatable {
    /// Indices in the old collection of rows that left it, or moved.
    public internal(set) var deletions: [Int] = []
    /// Indices in the new collection of rows that entered it, or moved.
    public internal(set) var insertions: [Int] = []
    /// Indices in the old collection of rows that changed and kept their place among the rows that stay.
    public internal(set) var modifications: [Int] = []
    /// Indices in the new collection of the same rows, in the same order as `modifications`.
    public internal(set) var modificationsNew: [Int] = []
    /// Rows that moved, ascending by `from`.
    public internal(set) var moves: [Move<Int>] = []
    /// The rows that left the collection, moved ones excluded, in the order of `deletions`.
    public internal(set) var deletedIDs: [ObjectID] = []

    /// Whether nothing changed.
    @inlinable public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
