// The rows of one query in their order, as a process keeps them that is sent every commit: the counted tree that stands behind the
// queries of StillingWell, so that what is compared is how changes are heard of, and not how rows are kept. A value; old ones stay as
// they are.
import StillingWellTree
import TidegaugeDriver

/// A row, and the number it was inserted under, which is the order of a query that asks for none.
struct AgedItem: Sendable, Equatable {
    var item: Item
    var age: UInt64
}

struct OrderedView: Sendable {
    /// What has become of a row.
    typealias Step = (before: AgedItem?, after: AgedItem?)

    let query: Query
    private(set) var tree: RankedTree
    /// Of rows whose group or score the query does not tell: both, as words of the tree's.
    private var hasWords: Bool { !tree.measures.isEmpty }

    /// - Parameter rows: those of the query, in any order. O(n log n).
    init(_ query: Query, _ rows: [AgedItem]) {
        self.query = query
        let isTold = query.group != nil && query.order != .none
        tree =
            isTold ? RankedTree() : RankedTree().measured(Measures(columns: 0b11, doubles: 0, optionals: 0)) { _, _ in }
        apply(rows.map { (nil, $0) })
    }

    var count: Int { tree.count }

    /// - Parameter steps: of rows that the query finds before or after; none twice. O(steps log n).
    mutating func apply(_ steps: [Step]) {
        var (removals, insertions, words): ([RankedKey], [RankedEntry], [UInt64]) = ([], [], [])
        for step in steps {
            let before = step.before.flatMap { matches($0) ? key($0) : nil }
            let after = step.after.flatMap { matches($0) ? key($0) : nil }
            if let before, before != after { removals.append(before) }
            guard let after, let row = step.after else { continue }
            insertions.append(RankedEntry(key: after, stamp: UInt64(bitPattern: row.item.stamp)))
            if hasWords {
                words += [UInt64(bitPattern: row.item.group), UInt64(bitPattern: row.item.score)]
            }
        }
        guard !removals.isEmpty || !insertions.isEmpty else { return }
        tree.apply(removals: removals, insertions: insertions, values: hasWords ? words : nil)
    }

    private func matches(_ row: AgedItem) -> Bool {
        query.matches(key: row.item.key, group: row.item.group, score: row.item.score)
    }

    /// Numbers with a sign, in their order.
    private static let sign = UInt64(1) << 63

    private func key(_ row: AgedItem) -> RankedKey {
        let score = UInt64(bitPattern: row.item.score) ^ Self.sign
        let place =
            switch query.order {
            case .none, .list: row.age
            case .scoreAscending: score
            case .scoreDescending: ~score
            }
        return RankedKey(prefix: place, id: UInt64(bitPattern: row.item.key) ^ Self.sign)
    }

    /// Calls `body` with the rows there are at `indices`, in order. O(log n) for the first, O(1) for each, O(log n) where a query
    /// does not tell their group.
    func forEach(_ indices: Range<Int>, _ body: (Item) -> Void) {
        let ranks = indices.clamped(to: 0..<count)
        for (rank, entry) in zip(ranks, tree.entries(in: ranks)) {
            let words = hasWords ? tree.words(at: rank) : nil
            let score =
                switch query.order {
                case .none, .list: words?[1] ?? 0
                case .scoreAscending: entry.key.prefix ^ Self.sign
                case .scoreDescending: ~entry.key.prefix ^ Self.sign
                }
            body(
                Item(
                    key: Int64(bitPattern: entry.key.id ^ Self.sign),
                    group: words.map { Int64(bitPattern: $0[0]) } ?? query.group ?? 0, score: Int64(bitPattern: score),
                    stamp: Int64(bitPattern: entry.stamp)))
        }
    }

    /// What made this of an older state of the same query. O(log n + what differs).
    func changes(since old: OrderedView) -> ChangeSet { .between(old.tree, tree) }
}
