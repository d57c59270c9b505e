// How a change set is followed: the rows kept so far become the rows shown, or the change set is wrong. For whatever an
// observer keeps of a row.
import LiveStore

enum Replay {
    /// Brings `kept` forward by `changes`.
    /// - Parameters:
    ///   - count: how many rows are shown now.
    ///   - id: what a row is known by; nil where that may change, as an element of a list may be another object's.
    ///   - row: a row as it is shown now.
    /// - Returns: what does not fit; nil if all does.
    static func apply<Row>(
        _ changes: ChangeSet, to kept: inout [Row], count: Int, id: ((Row) -> ObjectID)?, row: (Int) -> Row
    ) -> String? {
        let old = kept
        let moved = Set(changes.moves.map(\.from))
        if let wrong = changes.deletions.first(where: { !old.indices.contains($0) }) {
            return "row \(wrong) of \(old.count) is deleted"
        }
        let deleted = changes.deletions.filter { !moved.contains($0) }.map { old[$0] }
        if let id, let difference = Difference.first("deleted, by id", changes.deletedIDs, "by index", deleted.map(id))
        {
            return "\(difference)\nkept by index: \(deleted)"
        }

        var new = old
        for index in changes.deletions.reversed() { new.remove(at: index) }
        for index in changes.insertions {
            guard index <= new.count, index < count else { return "row \(index) is inserted into \(new.count) rows" }
            new.insert(row(index), at: index)
        }
        guard changes.modifications.count == changes.modificationsNew.count else {
            return "\(changes.modifications.count) modifications, \(changes.modificationsNew.count) new ones"
        }
        func isOneRow(_ from: Int, _ to: Int) -> Bool { id.map { $0(old[from]) == $0(new[to]) } ?? true }
        for (from, to) in zip(changes.modifications, changes.modificationsNew) {
            guard old.indices.contains(from), new.indices.contains(to), to < count else {
                return "a modification of row \(from) to \(to)"
            }
            guard isOneRow(from, to) else { return twoRows("modification", from, old[from], to, new[to]) }
            new[to] = row(to)
        }
        for move in changes.moves {
            guard old.indices.contains(move.from), new.indices.contains(move.to) else {
                return "a move of row \(move.from) to \(move.to)"
            }
            guard isOneRow(move.from, move.to) else {
                return twoRows("move", move.from, old[move.from], move.to, new[move.to])
            }
        }
        kept = new
        return nil
    }

    private static func twoRows<Row>(_ what: String, _ from: Int, _ old: Row, _ to: Int, _ new: Row) -> String {
        "one \(what) names two rows\nrow \(from), before: \(old)\nrow \(to), after: \(new)"
    }

    static func text(_ changes: ChangeSet) -> String {
        "deletions \(changes.deletions) insertions \(changes.insertions) modifications \(changes.modifications) new "
            + "\(changes.modificationsNew) moves \(changes.moves.map { "\($0.from)>\($0.to)" })"
    }
}
