// Checks a change set by the rules alone, given the rows before and after: it must be true, complete and minimal.
import StillingWellFixtures

@testable import StillingWell
@testable import StillingWellTree

enum ChangeSetOracle {
    /// Returns the first broken rule, or nil.
    static func violation(_ changes: ChangeSet, from old: [ModelRow], to new: [ModelRow]) -> String? {
        for (name, indices, count) in [
            ("deletions", changes.deletions, old.count), ("insertions", changes.insertions, new.count),
            ("modifications", changes.modifications, old.count),
            ("modificationsNew", changes.modificationsNew, new.count),
            ("moves", changes.moves.map(\.from), old.count),
        ] where !isAscending(indices, below: count) {
            return "\(name) \(indices) do not ascend within 0 ..< \(count)"
        }
        let newIDs = Set(new.map(\.id))
        let gone = old.filter { !newIDs.contains($0.id) }.map { ObjectID(rawValue: $0.id) }
        if gone != changes.deletedIDs { return "deletedIDs \(changes.deletedIDs), expected \(gone)" }
        if changes.isEmpty { return old == new ? nil : "no change" }
        return ChangeSetReplay.violation(
            changes, from: old.map { ReplayedRow($0.id, $0) }, to: new.map { ReplayedRow($0.id, $0) })
            ?? minimality(changes, from: old, to: new)
    }

    private static func isAscending(_ indices: [Int], below count: Int) -> Bool {
        indices.allSatisfy { $0 >= 0 && $0 < count } && zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Checks that no row with an unchanged key moves, and that as few rows as possible move.
    ///
    /// The rows in both collections, in old order, are a sequence of new indices. The rows that stay are an increasing
    /// subsequence that contains all rows with unchanged keys. The heaviest such subsequence tells how many rows need
    /// to move. It is found in quadratic time by trying each row as the last.
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
