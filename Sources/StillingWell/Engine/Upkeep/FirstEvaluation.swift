// First evaluation of queries, by an index or by one scan of a table for several trees. Used by the evaluator thread,
// in snapshots of its own, so that upkeep is not delayed, and by frozen results. `EntryCollector` is also used by
// connections that evaluate a query themselves.
import StillingWellSync

enum FirstEvaluation {
    /// Number of trees up to which each row is tested against every tree, which is faster than an index lookup.
    private static let fewTrees = 8

    /// Rows of a scan between two pauses.
    private static let sliceRows = 1_024

    /// Evaluates several trees of one table.
    static func evaluate(_ trees: [(TreeKey, Table)], in snapshot: Snapshot) throws(StoreError) -> [RankedTree] {
        var made = try lookUp(trees, in: snapshot)
        let missing = made.indices.filter { made[$0] == nil }
        let scanned = try scan(missing.map { trees[$0] }, in: snapshot)
        for (place, tree) in zip(missing, scanned) { made[place] = tree }
        return made.map { $0! }
    }

    /// Evaluates the trees of one table whose rows an index finds. The others are nil.
    static func lookUp(_ trees: [(TreeKey, Table)], in snapshot: Snapshot) throws(StoreError) -> [RankedTree?] {
        let made = trees.map { key, table -> RankedTree? in
            var collector = EntryCollector(key, table)
            guard collector.collectByIndex(key, in: snapshot, sharing: trees.count) else { return nil }
            return collector.makeTree(stamp: snapshot.version)
        }
        try snapshot.checkReads()
        return made
    }

    /// Evaluates several trees of one table in one scan. Many trees are found by an index, as for a changed row. Trees
    /// with the same order are sorted together.
    /// - Parameters:
    ///   - isDropped: whether the tree with an index is not wanted any more. Asked before each tree and after about
    ///     1,024 rows.
    ///   - pause: called after about 1,024 rows, and after each tree.
    /// - Returns: the trees; nil for a dropped one.
    static func scan(
        _ trees: [(TreeKey, Table)], in snapshot: Snapshot, isDropped: (Int) -> Bool = { _ in false },
        pausing pause: () -> Void = {}
    ) throws(StoreError) -> [RankedTree?] {
        guard let table = trees.first?.1 else { return [] }
        var made = [RankedTree?](repeating: nil, count: trees.count)
        let scan = TableScan(table)
        for (handle, tree) in trees.enumerated() { scan.add(tree.0, handle) }
        var left = sliceRows
        scan.run(in: snapshot, routed: trees.count > fewTrees, isDropped) { rowCount in
            left -= rowCount
            guard left <= 0 else { return false }
            left = sliceRows
            pause()
            return true
        }
        try snapshot.checkReads()
        scan.finish(stamp: snapshot.version, isDropped) {
            made[$0] = $1
            pause()
        }
        return made
    }
}

/// One scan of a table for several trees. Used by one thread. Exclusivity checks are off: they took a quarter of the
/// scan for 100 trees.
private final class TableScan {
    /// A tree that is being filled. A struct, because each test of a row would retain an object.
    struct Member {
        let key: TreeKey
        let handle: Int
        let residual: RowTest
        /// Index of the order in `orders`.
        let order: Int
        var rows = ChosenRows()

        init(_ key: TreeKey, _ handle: Int, order: Int) {
            (self.key, self.handle, self.order) = (key, handle, order)
            residual = RowTest(key.residual)
        }
    }

    /// Rows of all trees with the same order.
    private struct Order {
        var rows: GatheredRows
        /// The row added last, which several trees may share.
        var last = ObjectID.none
        var count: UInt32 = 0
        /// Number of trees, including dropped ones.
        var trees = 0
    }

    private let table: Table
    let members = DeliveryBound<[Member]>([])
    private let orders = DeliveryBound<[Order]>([])
    private var places: [TreeKey: Int] = [:]

    init(_ table: Table) { self.table = table }

    deinit { for index in members.value.indices { members.value[index].rows.free() } }

    func add(_ key: TreeKey, _ handle: Int) {
        // The parts of a key that define the order. The other parts select rows and modifications.
        var order = key
        order.residual = []
        order.observed = .everything
        let place = places[order] ?? orders.value.count
        if place == orders.value.count {
            orders.value.append(Order(rows: GatheredRows(key, table)))
            places[order] = place
        }
        orders.value[place].trees += 1
        members.value.append(Member(key, handle, order: place))
    }

    /// Ends early if all trees are dropped.
    /// - Parameters:
    ///   - routed: whether an index finds the trees to test a row against.
    ///   - isDropped: whether the tree with a handle is not wanted any more.
    ///   - passed: called with the number of rows tested since the last call. Returns whether to look for dropped
    ///     trees.
    func run(in snapshot: Snapshot, routed: Bool, _ isDropped: (Int) -> Bool, _ passed: (Int) -> Bool) {
        var kept = members.value.count
        var index = QueryIndex(table.schema)
        if routed {
            for (number, member) in members.value.enumerated() { index.insert(member.key.residual, handle: number) }
        }
        members.value.withUnsafeMutableBufferPointer { members in
            /// Moves dropped trees behind the others, whose number is `kept`.
            func removeDropped() {
                for number in (0..<kept).reversed() where isDropped(members[number].handle) {
                    kept -= 1
                    members[number].rows.free()
                    if routed {
                        index.remove(members[number].key.residual, handle: number)
                        if number != kept {
                            index.remove(members[kept].key.residual, handle: kept)
                            index.insert(members[kept].key.residual, handle: number)
                        }
                    }
                    members.swapAt(number, kept)
                }
            }
            orders.value.withUnsafeMutableBufferPointer { orders in
                snapshot.scanRuns(table) { rows, source in
                    let values = source.largeValues
                    for found in rows {
                        let (id, row) = (found.id, found.row(values))
                        if routed {
                            index.forEachCandidate(nil, row) { ask(&members[$0], orders, id, row, source) }
                        } else {
                            for number in 0..<kept { ask(&members[number], orders, id, row, source) }
                        }
                    }
                    if passed(rows.count) { removeDropped() }
                    return kept > 0
                }
            }
        }
        members.value.removeLast(members.value.count - kept)
    }

    @inline(__always)
    private func ask(
        _ member: inout Member, _ orders: UnsafeMutableBufferPointer<Order>, _ id: ObjectID, _ row: RowReader,
        _ source: any RowSource
    ) {
        guard member.residual.passes(row, id, source, table.links) else { return }
        let order = member.order
        if orders[order].last != id {
            orders[order].last = id
            orders[order].rows.add(id, row, source)
            orders[order].count += 1
        }
        member.rows.add(orders[order].count - 1)
    }

    /// Calls `body` with each finished tree.
    /// - Parameter isDropped: whether the tree with a handle is left out.
    func finish(stamp: UInt64, _ isDropped: (Int) -> Bool, _ body: (_ handle: Int, RankedTree) -> Void) {
        for order in orders.value.indices {
            let sharing = members.value.indices.filter {
                members.value[$0].order == order && !isDropped(members.value[$0].handle)
            }
            if sharing.isEmpty { continue }
            // A tree that was alone from the start has all gathered rows.
            let isAlone = orders.value[order].trees == 1
            let sorted = orders.value[order].rows.sort()
            var marks = [UInt64](repeating: 0, count: sorted.count / 64 + 1)
            var places = [UInt32](repeating: 0, count: isAlone ? 0 : sorted.count)
            if !isAlone { for (place, number) in sorted.enumerated() { places[Int(number)] = UInt32(place) } }
            for index in sharing where !isDropped(members.value[index].handle) {
                let key = members.value[index].key
                let form = TreeForm(key, table.schema)
                let stamp = key.observed == .columns(0) ? 0 : stamp
                let tree =
                    isAlone
                    ? orders.value[order].rows.tree(form, stamp: stamp)
                    : orders.value[order].rows.tree(
                        form, stamp: stamp, at: members.value[index].rows.places(places, &marks))
                members.value[index].rows.free()
                body(members.value[index].handle, tree)
            }
        }
    }
}

/// Gathers the rows of one tree and sorts them once.
struct EntryCollector {
    private let table: Table
    private let residual: RowTest
    private let form: TreeForm
    /// Whether no change counts as a modification, so that all rows have the stamp 0.
    private let isShallow: Bool
    private var rows: GatheredRows

    init(_ key: TreeKey, _ table: Table) {
        self.table = table
        residual = RowTest(key.residual)
        form = TreeForm(key, table.schema)
        isShallow = key.observed == .columns(0)
        rows = GatheredRows(key, table)
    }

    /// Collects rows by an index. Returns false if no index finds few enough rows.
    /// - Parameter sharing: number of trees that would share a scan.
    mutating func collectByIndex(_ key: TreeKey, in source: any RowSource, sharing: Int = 1) -> Bool {
        guard let ids = IndexAccess.candidates(key.residual, table, source, sharing: sharing) else { return false }
        for id in ids {
            if let row = source.row(table, id) { collect(id, row, source) }
        }
        return true
    }

    mutating func collect(_ id: ObjectID, _ row: RowReader, _ source: any RowSource) {
        if residual.passes(row, id, source, table.links) { rows.add(id, row, source) }
    }

    mutating func makeTree(stamp version: UInt64) -> RankedTree {
        _ = rows.sort()
        return rows.tree(form, stamp: isShallow ? 0 : version)
    }
}
