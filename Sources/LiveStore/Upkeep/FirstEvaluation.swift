// What the first evaluation of queries does: one scan of a table fills all trees that wait for it, in a snapshot of its
// own, so that nobody's upkeep is delayed. Pure; the thread is Evaluator's.

enum FirstEvaluation {
    /// Evaluates several trees of one table in one scan. Many trees are routed by an index, as a changed row is.
    static func evaluate(_ trees: [(TreeKey, Table)], in snapshot: Snapshot) -> [RankedTree] {
        guard let table = trees.first?.1 else { return [] }
        var collectors = trees.map { EntryCollector($0.0, table) }
        var index = QueryIndex(table.schema)
        for (handle, tree) in trees.enumerated() { index.insert(tree.0.residual, handle: handle) }
        snapshot.scan(table) { id, row in
            index.forEachCandidate(nil, row) { collectors[$0].collect(id, row) }
        }
        return collectors.indices.map { collectors[$0].makeTree(stamp: snapshot.version) }
    }
}

/// Gathers the rows of one tree and sorts them once.
struct EntryCollector {
    private let residual: [FilterExpression]
    private let form: TreeForm
    private var encoder: SortKeyEncoder
    private var keys: [RankedKey] = []
    /// Used instead of `keys` where keys are numbers: half the size, and nothing to count references of.
    private var numbers: [(prefix: UInt64, id: UInt64)] = []

    init(_ key: TreeKey, _ table: Table) {
        residual = Array(key.residual)
        form = TreeForm(key, table.schema)
        encoder = SortKeyEncoder(key, table.schema)
    }

    mutating func collect(_ id: ObjectID, _ row: RowReader) {
        guard residual.allSatisfy({ $0.matches(row) }) else { return }
        let key = encoder.key(row, id)
        if encoder.isNumeric { numbers.append((key.prefix, id.rawValue)) } else { keys.append(key) }
    }

    mutating func makeTree(stamp: UInt64) -> RankedTree {
        if encoder.isNumeric {
            numbers.sort { $0.prefix != $1.prefix ? $0.prefix < $1.prefix : $0.id < $1.id }
            return form.tree(
                sorted: numbers.lazy.map { RankedEntry(key: RankedKey(prefix: $0.prefix, id: $0.id), stamp: stamp) })
        }
        keys.sort()
        return form.tree(sorted: keys.lazy.map { RankedEntry(key: $0, stamp: stamp) })
    }
}
