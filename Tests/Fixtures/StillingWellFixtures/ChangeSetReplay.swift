// Applies change sets to an observer's rows, and checks them by the rows before and after.
import StillingWell

/// Contents of a change set, as paths. A change set without sections has one section.
public struct ToldChanges {
    var deletedSections: [Int] = []
    var insertedSections: [Int] = []
    let deletions: [RowPath]
    let insertions: [RowPath]
    let modifications: [RowPath]
    let modificationsNew: [RowPath]
    let moves: [(from: RowPath, to: RowPath)]
    public let deletedIDs: [ObjectID]

    public init(_ changes: ChangeSet) {
        func path(_ row: Int) -> RowPath { RowPath(section: 0, row: row) }
        deletions = changes.deletions.map(path)
        insertions = changes.insertions.map(path)
        modifications = changes.modifications.map(path)
        modificationsNew = changes.modificationsNew.map(path)
        moves = changes.moves.map { (path($0.from), path($0.to)) }
        deletedIDs = changes.deletedIDs
    }

    public init(_ changes: SectionedChangeSet) {
        (deletedSections, insertedSections) = (changes.deletedSections, changes.insertedSections)
        (deletions, insertions) = (changes.deletions, changes.insertions)
        (modifications, modificationsNew) = (changes.modifications, changes.modificationsNew)
        moves = changes.moves.map { ($0.from, $0.to) }
        deletedIDs = changes.deletedIDs
    }

    /// The change set in one line.
    public var text: String {
        func list(_ paths: [RowPath]) -> String {
            "[\(paths.map { "\($0.section).\($0.row)" }.joined(separator: ", "))]"
        }
        return
            "deletions \(list(deletions)) sections -\(deletedSections) +\(insertedSections) insertions \(list(insertions)) "
            + "modifications \(list(modifications)) new \(list(modificationsNew)) moves \(moves.map { list([$0.from, $0.to]) })"
    }
}

/// A row as an observer knows it.
public struct ReplayedRow<ID: Hashable, Stamp: Equatable> {
    public let id: ID
    /// A value that changes whenever the row is written.
    public let stamp: Stamp

    public init(_ id: ID, _ stamp: Stamp) { (self.id, self.stamp) = (id, stamp) }
}

public enum ChangeSetReplay {
    /// Deletes rows, deletes sections, inserts sections, inserts rows and replaces modified rows, in this order.
    /// - Parameters:
    ///   - id: identity of a row, or nil if rows have none.
    ///   - row: returns a row as it is shown now, or nil if there is none.
    /// - Returns: the first contradiction, or nil. `kept` is unchanged after a contradiction.
    public static func apply<Row>(
        _ changes: ToldChanges, to kept: inout [[Row]], id: ((Row) -> ObjectID)? = nil, row: (RowPath) -> Row?
    ) -> String? {
        let old = kept
        var new = old
        if let problem = move(changes, &new, row) { return problem }
        guard changes.modifications.count == changes.modificationsNew.count else {
            return "\(changes.modifications.count) modifications, \(changes.modificationsNew.count) new ones"
        }
        for path in changes.modificationsNew {
            guard has(new, path), let row = row(path) else { return "row \(path) is modified and not there" }
            new[path.section][path.row] = row
        }
        guard let id else {
            kept = new
            return nil
        }
        for (from, to) in Array(zip(changes.modifications, changes.modificationsNew)) + changes.moves {
            guard has(old, from), has(new, to) else { return "a change of row \(from) to \(to), which are not there" }
            let (before, after) = (old[from.section][from.row], new[to.section][to.row])
            if id(before) != id(after) {
                return "one change names two rows\nrow \(from), before: \(before)\nrow \(to), after: \(after)"
            }
        }
        let moved = changes.moves.map(\.from)
        let gone = changes.deletions.filter { !moved.contains($0) }.map { id(old[$0.section][$0.row]) }
        if gone != changes.deletedIDs { return "deleted by id \(changes.deletedIDs), by index \(gone)" }
        kept = new
        return nil
    }

    private static func has<Row>(_ rows: [[Row]], _ path: RowPath) -> Bool {
        rows.indices.contains(path.section) && rows[path.section].indices.contains(path.row)
    }

    /// Applies everything except modifications.
    private static func move<Row>(_ changes: ToldChanges, _ rows: inout [[Row]], _ row: (RowPath) -> Row?) -> String? {
        for path in changes.deletions.reversed() {
            guard has(rows, path) else { return "row \(path) is deleted and not there" }
            rows[path.section].remove(at: path.row)
        }
        for section in changes.deletedSections.reversed() {
            guard rows.indices.contains(section), rows[section].isEmpty else {
                return "section \(section) is deleted and not there, or not empty"
            }
            rows.remove(at: section)
        }
        for section in changes.insertedSections {
            guard section <= rows.count else { return "section \(section) is inserted into \(rows.count)" }
            rows.insert([], at: section)
        }
        for path in changes.insertions {
            guard rows.indices.contains(path.section), path.row <= rows[path.section].count, let row = row(path) else {
                return "row \(path) is inserted out of range"
            }
            rows[path.section].insert(row, at: path.row)
        }
        return nil
    }

    /// Applies a change set of rows without sections.
    public static func apply<Row>(
        _ changes: ChangeSet, to kept: inout [Row], id: ((Row) -> ObjectID)? = nil, row: (Int) -> Row?
    ) -> String? {
        var sections = [kept]
        let problem = apply(ToldChanges(changes), to: &sections, id: id) { row($0.row) }
        kept = sections[0]
        return problem
    }

    /// The modifications that an observer receives.
    public enum Modifications {
        case all
        /// At most those of written rows. A row that left and came back may be one.
        case some
    }

    /// Checks a change set. It must lead from the old rows to the new ones. Moves are the rows in both that are deleted
    /// and inserted. Modifications are the rows in both that were written and did not move.
    /// - Parameter mayMove: whether a row may move, by default if it was written.
    /// - Returns: the first contradiction, or nil.
    public static func violation<ID, Stamp>(
        _ changes: ToldChanges, from old: [[ReplayedRow<ID, Stamp>]], to new: [[ReplayedRow<ID, Stamp>]],
        _ modifications: Modifications = .all, mayMove: ((ID) -> Bool)? = nil
    ) -> String? {
        if changes.deletions.isEmpty, changes.insertions.isEmpty, changes.modifications.isEmpty {
            return "an empty change set"
        }
        for paths in [
            changes.deletions, changes.insertions, changes.modifications, changes.modificationsNew,
            changes.moves.map(\.from),
        ] where !zip(paths, paths.dropFirst()).allSatisfy({ $0 < $1 }) {
            return "\(changes.text): \(paths) do not ascend"
        }
        let what = { "\(changes.text) from \(old.map { $0.map(\.id) }) to \(new.map { $0.map(\.id) })" }
        var ids = old.map { $0.map(\.id) }
        let newIDs = new.map { $0.map(\.id) }
        let problem = move(changes, &ids) { has(newIDs, $0) ? newIDs[$0.section][$0.row] : nil }
        if let problem { return "\(problem): \(what())" }
        if ids != newIDs { return "leads to \(ids): \(what())" }
        var places: [ID: (path: RowPath, stamp: Stamp)] = [:]
        for (section, rows) in old.enumerated() {
            for (index, row) in rows.enumerated() {
                places[row.id] = (RowPath(section: section, row: index), row.stamp)
            }
        }
        let (deleted, inserted) = (Set(changes.deletions), Set(changes.insertions))
        var moves: [(from: RowPath, to: RowPath)] = []
        var modified: [(from: RowPath, to: RowPath)] = []
        for (section, rows) in new.enumerated() {
            for (index, row) in rows.enumerated() {
                guard let before = places[row.id] else { continue }
                let path = RowPath(section: section, row: index)
                if deleted.contains(before.path) != inserted.contains(path) {
                    return "row \(path) is only deleted or only inserted: \(what())"
                }
                if inserted.contains(path) {
                    moves.append((before.path, path))
                    guard mayMove?(row.id) ?? (before.stamp != row.stamp) else {
                        return "row \(path) is reported as moved, but may not move: \(what())"
                    }
                } else if before.stamp != row.stamp {
                    modified.append((before.path, path))
                }
            }
        }
        moves.sort { $0.from < $1.from }
        if moves.map(\.from) != changes.moves.map(\.from) || moves.map(\.to) != changes.moves.map(\.to) {
            return "moves should be \(moves): \(what())"
        }
        let told = Array(zip(changes.modifications, changes.modificationsNew))
        let isRight =
            modifications == .all
            ? told.elementsEqual(modified, by: ==) : told.allSatisfy { pair in modified.contains { $0 == pair } }
        return isRight ? nil : "modifications should be \(modified): \(what())"
    }

    /// Checks a change set of rows without sections.
    public static func violation<ID, Stamp>(
        _ changes: ChangeSet, from old: [ReplayedRow<ID, Stamp>], to new: [ReplayedRow<ID, Stamp>],
        _ modifications: Modifications = .all, mayMove: ((ID) -> Bool)? = nil
    ) -> String? {
        violation(ToldChanges(changes), from: [old], to: [new], modifications, mayMove: mayMove)
    }
}
