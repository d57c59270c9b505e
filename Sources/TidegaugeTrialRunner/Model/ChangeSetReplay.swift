// Checks that a delivered change set turns the collection of one version into that of another. The check is exact and
// local: it reads only rows that were changed in between, or that the change set names.
//
// Suppose that the old collection is correct. Unchanged rows keep their relative order. So the change set is correct
// if and only if: (1) the rows that it deletes but does not insert are those that left, and vice versa for rows that
// entered; (2) every changed row that it leaves in place has the same index among the rows left in place, before and
// after; (3) its modifications are the changed rows left in place. Applying it then gives the new collection, so the
// next step starts from a correct one. A test compares this check with applying the lists to whole arrays.
import StillingWellBasis
import TidegaugeDriver

struct ChangeSetReplay {
    struct Delivered {
        var count: Int
        var deletions: UnsafeBufferPointer<Int32>
        var insertions: UnsafeBufferPointer<Int32>
        var modifications: UnsafeBufferPointer<Int32>
        var moveCount: Int

        var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
    }

    private(set) var rows: OrderedRows

    init(_ rows: OrderedRows) { self.rows = rows }

    /// Advances without checking a change set, as for the initial delivery.
    mutating func advance(_ net: [QueryHistory.Touch]) {
        let moved = net.filter { $0.before != $0.after }
        for touch in moved where touch.wasIn { rows.remove(touch.before) }
        for touch in moved where touch.isIn { rows.insert(.init(order: touch.after, key: touch.key)) }
    }

    /// Advances by the net changes of the commits in between, and checks the delivered change set.
    /// - Returns: the problem as a sentence, with its index; nil if there is none.
    mutating func step(_ net: [QueryHistory.Touch], _ delivered: Delivered) -> Problem? {
        let oldCount = rows.count
        if let problem = Self.shape(delivered.deletions, "deletion", below: oldCount) {
            advance(net)
            return problem
        }
        let deleted = delivered.deletions.map { rows[Int($0)].key }
        let oldRanks = net.map { $0.wasIn ? rows.rank(of: $0.before) : -1 }

        advance(net)
        if delivered.count != rows.count {
            return Problem(nil, "says the collection has \(delivered.count) rows; it has \(rows.count)")
        }
        if let problem = Self.shape(delivered.insertions, "insertion", below: rows.count)
            ?? Self.shape(delivered.modifications, "modification", below: rows.count)
        {
            return problem
        }
        let inserted = delivered.insertions.map { rows[Int($0)].key }
        let touched = Dictionary(uniqueKeysWithValues: net.indices.map { (net[$0].key, $0) })
        return membership(net, touched, deleted, inserted, delivered) ?? places(net, oldRanks, Set(deleted), delivered)
            ?? modifications(net, touched, Set(deleted), delivered)
    }

    /// Checks (1), the number of moves, and that no more rows were moved than changed their sort key.
    private func membership(
        _ net: [QueryHistory.Touch], _ touched: [Int64: Int], _ deleted: [Int64], _ inserted: [Int64],
        _ delivered: Delivered
    ) -> Problem? {
        let deletedKeys = Set(deleted)
        let insertedKeys = Set(inserted)
        for (key, index) in zip(deleted, delivered.deletions) where !insertedKeys.contains(key) {
            guard let place = touched[key] else {
                return Problem(
                    Int(index), "deletion \(index) is row \(key), which did not change and is still in the collection")
            }
            guard net[place].isIn else { continue }
            let rank = rows.rank(of: net[place].after)
            // An insertion that is wrong by one names another row.
            let other = zip(inserted, delivered.insertions).first { key, _ in
                !deletedKeys.contains(key) && touched[key].map { net[$0].wasIn } != false
            }
            return Problem(
                rank,
                "row \(key), deletion \(index), is in the collection at \(rank) now and no insertion says so"
                    + (other.map { "; insertion \($1) is row \($0), which was in the collection before" } ?? ""))
        }
        for (key, index) in zip(inserted, delivered.insertions) where !deletedKeys.contains(key) {
            guard let place = touched[key], !net[place].wasIn else {
                return Problem(Int(index), "insertion \(index) is row \(key), which was in the collection before")
            }
        }
        for touch in net {
            if !touch.isIn, !deletedKeys.contains(touch.key) {
                return Problem(nil, "row \(touch.key) left the collection and no deletion says so")
            }
            if !touch.wasIn, !insertedKeys.contains(touch.key) {
                let index = rows.rank(of: touch.after)
                return Problem(index, "row \(touch.key) entered the collection at \(index) and no insertion says so")
            }
        }
        let moves = deletedKeys.intersection(insertedKeys).count
        let reordered = net.count { $0.before != $0.after && $0.wasIn && $0.isIn }
        if moves != delivered.moveCount {
            return Problem(nil, "says \(delivered.moveCount) rows moved; \(moves) are both deleted and inserted")
        }
        if moves > reordered {
            return Problem(nil, "moves \(moves) rows where \(reordered) changed their sort key: not minimal")
        }
        return nil
    }

    /// Checks (2).
    private func places(
        _ net: [QueryHistory.Touch], _ oldRanks: [Int], _ deleted: Set<Int64>, _ delivered: Delivered
    ) -> Problem? {
        for (touch, oldRank) in zip(net, oldRanks) where touch.wasIn && touch.isIn && !deleted.contains(touch.key) {
            let newRank = rows.rank(of: touch.after)
            let oldPlace = oldRank - Self.countBelow(oldRank, delivered.deletions)
            let newPlace = newRank - Self.countBelow(newRank, delivered.insertions)
            if oldPlace != newPlace {
                return Problem(
                    newRank,
                    "row \(touch.key) went from index \(oldRank) to \(newRank) past rows left in place, "
                        + "and is not among the moved rows")
            }
        }
        return nil
    }

    /// Checks (3).
    private func modifications(
        _ net: [QueryHistory.Touch], _ touched: [Int64: Int], _ deleted: Set<Int64>, _ delivered: Delivered
    ) -> Problem? {
        var modified: Set<Int64> = []
        for index in delivered.modifications {
            let key = rows[Int(index)].key
            guard let place = touched[key], net[place].wasIn, !deleted.contains(key) else {
                return Problem(Int(index), "modification \(index) is row \(key), which did not change in place")
            }
            modified.insert(key)
        }
        let told = modified.union(deleted)
        guard let silent = net.first(where: { $0.wasIn && $0.isIn && !told.contains($0.key) }) else { return nil }
        let index = rows.rank(of: silent.after)
        return Problem(index, "row \(silent.key) at \(index) changed and no modification says so")
    }

    private static func shape(_ list: UnsafeBufferPointer<Int32>, _ name: String, below bound: Int) -> Problem? {
        var last: Int32 = -1
        for index in list {
            if index <= last { return Problem(nil, "\(name)s are not ascending: \(index) after \(last)") }
            if Int(index) >= bound { return Problem(nil, "\(name) \(index) is outside the \(bound) rows there are") }
            last = index
        }
        return nil
    }

    private static func countBelow(_ bound: Int, _ list: UnsafeBufferPointer<Int32>) -> Int {
        list.partitioningIndex { Int($0) >= bound }
    }
}

extension ChangeSetReplay {
    struct Problem: Equatable {
        /// Index in the collection that the sentence is about; nil if it is about no single index.
        var index: Int?
        var sentence: String

        init(_ index: Int?, _ sentence: String) { (self.index, self.sentence) = (index, sentence) }
    }
}
