// Judges a change set by the rules alone, given the rows before and after: is it true, complete, and as small as it can be?
@testable import LiveStore
@testable import LiveStoreEngine
@testable import RankedTree

enum ChangeSetOracle {
    /// The first broken rule, in words; nil where all hold.
    static func violation(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        for (name, indices, count) in [
            ("deletions", changes.deletions, old.count), ("insertions", changes.insertions, new.count),
            ("modifications", changes.modifications, old.count),
            ("modificationsNew", changes.modificationsNew, new.count),
            ("moves", changes.moves.map(\.from), old.count),
        ] where !isAscending(indices, below: count) {
            return "\(name) \(indices) do not ascend within 0 ..< \(count)"
        }
        return applying(changes, from: old, to: new)
            ?? identities(changes, from: old, to: new)
            ?? modifications(changes, from: old, to: new)
            ?? minimality(changes, from: old, to: new)
    }

    private static func isAscending(_ indices: [Int], below count: Int) -> Bool {
        indices.allSatisfy { $0 >= 0 && $0 < count } && zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Deletions, then insertions, turn the old rows into the new ones.
    private static func applying(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        var ids = old.map(\.id)
        for index in changes.deletions.reversed() { ids.remove(at: index) }
        for index in changes.insertions {
            guard index <= ids.count else { return "insertion at \(index) into \(ids.count) rows" }
            ids.insert(new[index].id, at: index)
        }
        return ids == new.map(\.id) ? nil : "applied: \(ids), expected: \(new.map(\.id))"
    }

    /// Moves are exactly the rows that are deleted and inserted; the other deleted ones are gone.
    private static func identities(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        let inserted = Dictionary(uniqueKeysWithValues: changes.insertions.map { (new[$0].id, $0) })
        let moves = changes.deletions.compactMap { from in
            inserted[old[from].id].map { Move(from: from, to: $0) }
        }
        if moves != changes.moves { return "moves \(changes.moves), expected \(moves)" }
        let newIDs = Set(new.map(\.id))
        let gone = old.filter { !newIDs.contains($0.id) }.map { ObjectID(rawValue: $0.id) }
        return gone == changes.deletedIDs ? nil : "deletedIDs \(changes.deletedIDs), expected \(gone)"
    }

    /// Exactly the rows that are in both, were written, and are not moved.
    private static func modifications(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        let newIndices = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1.id, $0) })
        let moved = Set(changes.moves.map(\.from))
        let pairs = old.indices.compactMap { index in newIndices[old[index].id].map { (index, $0) } }
            .filter { old[$0] != new[$1] && !moved.contains($0) }
        if pairs.map(\.0) != changes.modifications {
            return "modifications \(changes.modifications), expected \(pairs.map(\.0))"
        }
        if pairs.map(\.1) != changes.modificationsNew {
            return "modificationsNew \(changes.modificationsNew), expected \(pairs.map(\.1))"
        }
        return nil
    }

    /// No row without a change is touched, and of the rows whose key changed as few as possible move.
    ///
    /// The rows in both collections, in old order, are a sequence of new places. Those that stay are an increasing
    /// subsequence of it that has all rows whose key is the same; the heaviest one, found by trying each row as the last,
    /// tells how many need not move. Quadratic, and without gaps or patience sorting.
    private static func minimality(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        let newIndices = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1.id, $0) })
        let common = old.indices.filter { newIndices[old[$0].id] != nil }
        let places = common.map { newIndices[old[$0].id]! }
        let hasNewKey = common.indices.map { old[common[$0]].bytes != new[places[$0]].bytes }
        if let index = common.indices.first(where: { !hasNewKey[$0] && changes.deletions.contains(common[$0]) }) {
            return "row at \(common[index]) is reported as moved but has its old key"
        }
        let weights = hasNewKey.map { $0 ? 1 : 10_000 }
        var best: [Int] = []
        for index in common.indices {
            let before = (0..<index).filter { places[$0] < places[index] }.map { best[$0] }.max() ?? 0
            best.append(before + weights[index])
        }
        let moving = common.count - heaviest(best.max() ?? 0)
        return changes.moves.count == moving ? nil : "\(changes.moves.count) moves, \(moving) would do"
    }

    private static func heaviest(_ weight: Int) -> Int {
        weight / 10_000 + weight % 10_000
    }
}
