// Random histories of a ranked tree, compared with a sorted array: content, ranks, old snapshots, and change sets
// between random states, in random windows.
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite struct RankedHistoryTests {
    /// Small nodes in all but the last, so that many steps split or merge nodes.
    private static let shapes = [
        RankedTree.Shape(leafCapacity: 4, innerCapacity: 4), RankedTree.Shape(leafCapacity: 5, innerCapacity: 4),
        RankedTree.Shape(leafCapacity: 9, innerCapacity: 6), RankedTree.Shape(),
    ]
    private static let historiesPerPart = repetitions(1_300, atEveryCommit: 300)

    @Test(arguments: 0..<4)
    func everyStateAndEveryChangeSetAgreesWithTheModel(part: Int) {
        for index in 0..<Self.historiesPerPart {
            let seed = SeededRandom.base &+ UInt64(part * Self.historiesPerPart + index)
            if let violation = Self.history(seed: seed) {
                Issue.record("TIDEGAUGE_SEED=\(seed): \(violation)")
                return
            }
        }
    }

    private struct State {
        let tree: RankedTree
        let rows: [ModelRow]
    }

    /// Runs the history of one seed.
    /// - Returns: the first violation, or nil.
    private static func history(seed: UInt64) -> String? {
        var random = SeededRandom(seed: seed)
        var model = TreeModel(space: KeySpace.allCases.randomElement(using: &random)!)
        for _ in 0..<random.below(50) { _ = model.add(version: 1, &random) }
        var tree = RankedTree(sorted: model.rows.map(\.entry), shape: shapes.randomElement(using: &random)!)
        var states = [State(tree: tree, rows: model.rows)]
        for version in 2..<UInt64(4 + random.below(5)) {
            let count = random.oneIn(4) ? 10 + random.below(30) : 1 + random.below(6)
            let changes = (0..<count).map { _ in model.change(version: version, &random) }
            commit(changes, to: &tree, &random)
            if let violation = tree.checkInvariants() { return "version \(version): \(violation)" }
            if let violation = contents(of: tree, model.rows) { return "version \(version): \(violation)" }
            states.append(State(tree: tree, rows: model.rows))
        }
        for (index, state) in states.enumerated() {
            if let violation = contents(of: state.tree, state.rows) { return "snapshot \(index): \(violation)" }
        }
        if let violation = RankedTree.checkReferences(from: states.map(\.tree)) { return violation }
        for _ in 0..<4 {
            let old = states.randomElement(using: &random)!
            let new = random.oneIn(2) ? states.last! : states.randomElement(using: &random)!
            if let violation = changeSets(from: old, to: new, model.space, &random) { return violation }
        }
        return nil
    }

    /// Applies changes either as one net change per row, or one after the other. Several changes may be of one row.
    private static func commit(_ changes: [TreeModel.Change], to tree: inout RankedTree, _ random: inout SeededRandom) {
        if random.oneIn(3) {
            // One net change per row, as the store does it.
            var net: [UInt64: TreeModel.Change] = [:]
            for change in changes {
                let id = (change.old ?? change.new)!.id
                net[id] = TreeModel.Change(old: net[id].map(\.old) ?? change.old, new: change.new)
            }
            let removals = net.values.compactMap { change in
                change.old.flatMap { old in old.bytes == change.new?.bytes ? nil : old.key }
            }
            let insertions = net.values.compactMap { $0.new?.entry }
            return tree.apply(removals: removals, insertions: insertions)
        }
        tree.edit { edit in
            for change in changes {
                switch (change.old, change.new) {
                case (nil, let new?): edit.insert(new.entry)
                case (let old?, nil): edit.remove(old.key)
                case (let old?, let new?):
                    if old.bytes != new.bytes { edit.remove(old.key) }
                    edit.insert(new.entry)
                case (nil, nil): break
                }
            }
        }
    }

    /// Checks the content of `tree` by iteration, and at every seventh row by rank and by key.
    private static func contents(of tree: RankedTree, _ rows: [ModelRow]) -> String? {
        if tree.count != rows.count { return "count \(tree.count), expected \(rows.count)" }
        for (rank, pair) in zip(tree.entries, rows).enumerated() where pair.0 != pair.1.entry {
            return "rank \(rank): \(pair.0), expected \(pair.1)"
        }
        for rank in stride(from: 0, to: rows.count, by: 7) {
            if tree.id(at: rank) != rows[rank].id { return "select \(rank)" }
            if tree.rank(of: rows[rank].key) != rank { return "rank of \(rows[rank])" }
            if tree.stamp(of: rows[rank].key) != rows[rank].stamp { return "stamp of \(rows[rank])" }
        }
        return nil
    }

    private static func changeSets(
        from old: State, to new: State, _ space: KeySpace, _ random: inout SeededRandom
    ) -> String? {
        let difference = TreeDifference(from: old.tree, to: new.tree)
        for number in 0..<4 {
            let window = number == 0 ? ModelWindow() : space.window(&random)
            let before = window.rows(of: old.rows)
            let after = window.rows(of: new.rows)
            let changes = difference.changeSet(in: window.window)
            if let violation = ChangeSetOracle.violation(changes, from: before, to: after) {
                return "\(window): \(violation)\n\(changes)\nbefore \(before)\nafter \(after)"
            }
            // Comparing only the window gives the same as comparing everything and clipping.
            let alone = ChangeSet.between(old.tree, new.tree, in: window.window)
            if alone != changes { return "\(window) alone: \(alone)\nclipped: \(changes)" }
            if old.tree.slice(window.window).count != before.count { return "count in \(window)" }
            if let last = before.last, old.tree.slice(window.window).id(at: before.count - 1) != last.entry.key.id {
                return "last row in \(window)"
            }
            let other = space.window(&random)
            let moved = ChangeSet.between(old.tree, window.window, new.tree, other.window)
            if let violation = ChangeSetOracle.violation(moved, from: before, to: other.rows(of: new.rows)) {
                return "\(window) to \(other): \(violation)"
            }
        }
        return nil
    }
}
