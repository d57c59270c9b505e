// What the first evaluation of queries does: one scan of a table fills all trees that wait for it, in a snapshot of its
// own, so that nobody's upkeep is delayed. Pure; the thread is Evaluator's.

package enum FirstEvaluation {
    /// So many trees are asked about each row one by one: looking them up costs more.
    private static let fewTrees = 8

    /// Evaluates several trees of one table in one scan. Many trees are routed by an index, as a changed row is.
    package static func evaluate(_ trees: [(TreeKey, Table)], in snapshot: Snapshot) throws(StoreError) -> [RankedTree]
    {
        guard let table = trees.first?.1 else { return [] }
        var collectors = trees.map { EntryCollector($0.0, table) }
        var index = QueryIndex(table.schema)
        var scanned: [Int] = []
        for (handle, tree) in trees.enumerated() {
            if collectors[handle].collectByIndex(tree.0, in: snapshot) { continue }
            scanned.append(handle)
        }
        if !scanned.isEmpty, scanned.count <= fewTrees {
            snapshot.scan(table) { id, row, source in
                for handle in scanned { collectors[handle].collect(id, row, source) }
                return true
            }
        } else if !scanned.isEmpty {
            for handle in scanned { index.insert(trees[handle].0.residual, handle: handle) }
            snapshot.scan(table) { id, row, source in
                index.forEachCandidate(nil, row) { collectors[$0].collect(id, row, source) }
                return true
            }
        }
        try snapshot.checkReads()
        return collectors.indices.map { collectors[$0].makeTree(stamp: snapshot.version) }
    }
}

/// Gathers the rows of one tree and sorts them once.
package struct EntryCollector {
    private let table: Table
    private let residual: RowTest
    private let form: TreeForm
    /// No change is a modification, so all stamps are the same.
    private let isShallow: Bool
    private var encoder: SortKeyEncoder
    private var keys: [RankedKey] = []
    /// Used instead of `keys` where keys are numbers: half the size, and nothing to count references of.
    private var numbers: [(prefix: UInt64, id: UInt64)] = []

    package init(_ key: TreeKey, _ table: Table) {
        self.table = table
        residual = RowTest(key.residual)
        form = TreeForm(key, table.schema)
        isShallow = key.observed == .columns(0)
        encoder = SortKeyEncoder(key, table.schema)
    }

    /// Collects by an index, where one leads to few rows; false where none does.
    package mutating func collectByIndex(_ key: TreeKey, in source: any RowSource) -> Bool {
        guard let ids = IndexAccess.candidates(key.residual, table, source) else { return false }
        for id in ids {
            if let row = source.row(table, id) { collect(id, row, source) }
        }
        return true
    }

    package mutating func collect(_ id: ObjectID, _ row: RowReader, _ source: any RowSource) {
        guard residual.passes(row, id, source, table.links) else { return }
        let key = encoder.key(row, id, source, table.links)
        if encoder.isNumeric { numbers.append((key.prefix, id.rawValue)) } else { keys.append(key) }
    }

    package mutating func makeTree(stamp version: UInt64) -> RankedTree {
        let stamp = isShallow ? 0 : version
        if encoder.isNumeric {
            numbers.sort { $0.prefix != $1.prefix ? $0.prefix < $1.prefix : $0.id < $1.id }
            return form.tree(
                sorted: numbers.lazy.map { RankedEntry(key: RankedKey(prefix: $0.prefix, id: $0.id), stamp: stamp) })
        }
        keys.sort()
        return form.tree(sorted: keys.lazy.map { RankedEntry(key: $0, stamp: stamp) })
    }
}
