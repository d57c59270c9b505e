// Which rows change by what they lead to: a filter or an order over links reads other rows, and an observer hears of changes in
// linked objects. From each changed row the way is walked back over the indexes to the rows whose trees depend on it.
// Costs nothing for tables that nothing depends on. Upkeep thread only.
//
// For all changes of a step, walking back in the new snapshot is enough. A way that was there and is not any more ends at a row whose link was
// changed, or whose target was deleted, which is a change of the row too; and what is left of the way leads to that row.

/// Rows of one tree that a step changes by what they lead to, with what that means for their stamps.
struct DependantRows {
    private var columns: [ObjectID: UInt64] = [:]
    /// The last of the versions they changed at.
    private(set) var version: UInt64 = 0

    var isEmpty: Bool { columns.isEmpty }
    var ids: [ObjectID] { columns.keys.sorted() }

    /// - Parameter isModification: whether a row that stays where it is is told as modified.
    mutating func add(_ ids: Set<ObjectID>, isModification: Bool, version: UInt64) {
        for id in ids { columns[id, default: 0] |= isModification ? .max : 0 }
        if !ids.isEmpty { self.version = max(self.version, version) }
    }

    /// The columns that count as written.
    func columns(of id: ObjectID) -> UInt64 { columns[id] ?? 0 }

    /// The columns that count as written, for a row that is dealt with now.
    mutating func take(_ id: ObjectID) -> UInt64 { columns.isEmpty ? 0 : columns.removeValue(forKey: id) ?? 0 }
}

extension NetChanges {
    /// The version that a row was last changed at, as an observer of the tree sees it.
    func version(of row: ChangedRow, _ tree: SharedTree, isDependant: Bool) -> UInt64 {
        let own = version(of: row, observed: tree.key.observed)
        return isDependant ? max(own, tree.dependants.version) : own
    }
}

extension SharedTree {
    /// Notes the dependants that have not been noted as written rows.
    /// - Parameter version: of their stamps; nil for the one they changed at.
    func noteDependants(from old: Snapshot, to new: Snapshot, version: UInt64? = nil) {
        for id in dependants.ids {
            let columns = dependants.take(id)
            _ = note(
                id, from: old, old: old.row(table, id), to: new, new: new.row(table, id), columns: columns,
                version: version ?? dependants.version)
        }
        dependants = DependantRows()
    }

    /// Brings the tree alone from one snapshot to another, a newer or an older one. Rows that were modified in between
    /// have, in an older one, its version for a stamp.
    /// - Parameter found: called when `dependants` is known and nothing has changed yet.
    func move(from: Snapshot, to: Snapshot, found: () -> Void = {}) {
        let isForward = from.version < to.version
        let (old, new) = isForward ? (from, to) : (to, from)
        var dependencies = Dependencies(new.storage)
        dependencies.admit(self)
        let tables = [table] + dependencies.tables.filter { $0.id != table.id }
        let changes = NetChanges(
            from: old, to: new, wanted: { id in tables.first { $0.id == id } }, allWanted: { tables })
        _ = dependencies.find(changes, in: new)
        found()
        for row in changes.tables.filter({ $0.table.id == table.id }).flatMap(\.rows) {
            let extra = dependants.take(row.id)
            _ = note(
                row.id, from: from, old: from.row(table, row.id), to: to, new: to.row(table, row.id),
                columns: row.columns | extra,
                version: isForward ? changes.version(of: row, self, isDependant: extra != 0) : to.version)
        }
        noteDependants(from: from, to: to, version: isForward ? nil : to.version)
        applyNoted { _ in }
    }

    /// Rows of a query that are among its rows at `to` and whose observed columns were written since `from`, themselves or
    /// by what they lead to. O(changes in between). Any thread.
    static func written(from: Snapshot, to: Snapshot, _ key: TreeKey, _ table: Table) -> Set<ObjectID> {
        guard from.version < to.version else { return [] }
        // Beginning with no rows it ends with those that changed. Who only moved has no stamp to keep.
        let changed = SharedTree(key, table)
        var none = EntryCollector(key, table)
        changed.tree = none.makeTree(stamp: from.version)
        changed.move(from: from, to: to)
        guard let tree = changed.tree?.base else { return [] }
        return Set(tree.entries.lazy.filter { $0.stamp > from.version }.map { ObjectID(rawValue: $0.key.id) })
    }
}

/// What the trees of a store depend on.
struct Dependencies {
    /// One way from a tree's rows to the rows of another table that it reads.
    private struct Use {
        let tree: SharedTree
        let way: [LinkEdge]
        let columns: UInt64
        /// Whether a change there is one of the row, rather than perhaps of its membership or its place.
        let isModification: Bool
    }

    private let storage: Storage
    /// By the table that a way ends at.
    private var uses: [UInt32: [Use]] = [:]
    /// Trees that changes in linked objects count for, by their tables.
    private var deep: [UInt32: [SharedTree]] = [:]
    /// Tables that such a tree leads to, with the links from there on that still count.
    private var reached: [UInt32: Int] = [:]

    init(_ storage: Storage) { self.storage = storage }
    var isEmpty: Bool { uses.isEmpty && deep.isEmpty }

    /// Whether changes of the table matter to another one's trees.
    func isWatched(_ table: UInt32) -> Bool { uses[table] != nil || reached[table] != nil }

    /// Tables whose changes matter.
    var tables: [Table] { Set(uses.keys).union(reached.keys).compactMap { storage.tablesByID[$0] } }

    mutating func admit(_ tree: SharedTree) {
        guard let links = tree.table.links else { return }
        tree.key.forEachUse(links, storage.tablesByID) { way, columns in
            uses[way[way.count - 1].target, default: []].append(
                Use(tree: tree, way: way, columns: columns, isModification: false))
        }
        if case .columns(_, let paths) = tree.key.observed { for path in paths { admit(tree, path) } }
        guard tree.key.observed == .everything, links.leadsToObjects else { return }
        deep[tree.table.id, default: []].append(tree)
        reach()
    }

    /// Changes along a path count for the tree.
    private mutating func admit(_ tree: SharedTree, _ path: ColumnPath) {
        var links = tree.table.links
        var way: [LinkEdge] = []
        for (link, next) in zip(path.columns, path.columns.dropFirst()) {
            guard let edge = links?.edge(link) else { return }
            way.append(edge)
            uses[edge.target, default: []].append(
                Use(tree: tree, way: way, columns: 1 << UInt64(next), isModification: true))
            links = storage.tablesByID[edge.target]?.links
        }
    }

    mutating func drop(_ tree: SharedTree) {
        guard !isEmpty else { return }
        uses = uses.mapValues { $0.filter { $0.tree !== tree } }.filter { !$0.value.isEmpty }
        guard deep[tree.table.id] != nil else { return }
        deep[tree.table.id]!.removeAll { $0 === tree }
        if deep[tree.table.id]!.isEmpty { deep[tree.table.id] = nil }
        reach()
    }

    /// How many links lead on from the objects that a tree's rows are. An element of a list is not an object itself.
    private static func depth(_ table: Table) -> Int { Observed.depth + (table.links?.listOwner == nil ? 0 : 1) }

    private mutating func reach() {
        reached = [:]
        for id in deep.keys {
            guard let table = storage.tablesByID[id] else { continue }
            reach(table, Self.depth(table))
        }
    }

    private mutating func reach(_ table: Table, _ depth: Int) {
        guard depth > 0 else { return }
        for edge in table.links?.outgoing ?? [] {
            let left = depth - 1
            guard left > reached[edge.target] ?? -1, let target = storage.tablesByID[edge.target] else { continue }
            reached[edge.target] = left
            reach(target, left)
        }
    }

    /// Leaves with each tree those of its rows that depend on changed rows.
    /// - Returns: the trees that have any, by their tables.
    func find(_ changes: NetChanges, in new: Snapshot) -> [UInt32: [SharedTree]] {
        var found: [ObjectIdentifier: SharedTree] = [:]
        func add(_ ids: Set<ObjectID>, to tree: SharedTree, isModification: Bool) {
            if ids.isEmpty { return }
            tree.dependants.add(ids, isModification: isModification, version: new.version)
            found[ObjectIdentifier(tree)] = tree
        }
        var linked: [UInt32: Set<ObjectID>] = [:]
        for change in changes.tables {
            for use in uses[change.table.id] ?? [] {
                let rows = change.rows.filter { $0.columns & use.columns != 0 }
                if rows.isEmpty { continue }
                add(Self.roots(rows.map(\.id), use.way, in: new), to: use.tree, isModification: use.isModification)
            }
            if reached[change.table.id] != nil { linked[change.table.id] = Set(change.rows.map(\.id)) }
        }
        for (table, ids) in walkBack(linked, in: new) {
            for tree in deep[table] ?? [] { add(ids, to: tree, isModification: true) }
        }
        return Dictionary(grouping: found.values, by: { $0.table.id })
    }

    /// The rows at the start of a way that leads to one of `ids`.
    static func roots(
        _ ids: some Sequence<ObjectID>, _ way: [LinkEdge], in source: any RowSource
    ) -> Set<ObjectID> {
        way.reversed().reduce(Set(ids)) { source.sources(of: $0, along: $1) }
    }

    /// The rows of observed tables that lead to `changed` rows. A row is passed once, by the shortest way, so cycles end.
    private func walkBack(_ changed: [UInt32: Set<ObjectID>], in snapshot: Snapshot) -> [UInt32: Set<ObjectID>] {
        if changed.isEmpty { return [:] }
        var found: [UInt32: Set<ObjectID>] = [:]
        var passed = changed
        var front = changed
        for level in 1...(Observed.depth + 1) {
            var next: [UInt32: Set<ObjectID>] = [:]
            for (table, ids) in front {
                for edge in storage.tablesByID[table]?.links?.incoming ?? [] {
                    let isRoot = deep[edge.source] != nil
                    guard isRoot || reached[edge.source] != nil else { continue }
                    let sources = snapshot.sources(of: ids, along: edge)
                    if isRoot, let source = storage.tablesByID[edge.source], level <= Self.depth(source) {
                        found[edge.source, default: []].formUnion(sources)
                    }
                    next[edge.source, default: []].formUnion(sources.subtracting(passed[edge.source] ?? []))
                }
            }
            for (table, ids) in next { passed[table, default: []].formUnion(ids) }
            front = next
        }
        return found
    }
}
