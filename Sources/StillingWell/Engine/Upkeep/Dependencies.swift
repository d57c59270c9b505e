// Rows that change through links. A filter or order over links reads other rows, and observers are told of changes in
// linked objects. From each changed row, indexes are followed back to the rows whose trees depend on it. Tables without
// dependent trees cost nothing. Upkeep thread only.
//
// Following links in the new snapshot is enough for all changes of a step. If a path has been broken, it ends at a row
// whose link was changed or whose target was deleted. That row has changed too, and the rest of the path leads to it.

/// Rows of one tree that a step changes through links, and the columns that count as written in each.
struct DependantRows {
    private var columns: [ObjectID: UInt64] = [:]
    /// Version of the step that makes these changes.
    private(set) var version: UInt64 = 0

    var isEmpty: Bool { columns.isEmpty }
    var ids: [ObjectID] { columns.keys.sorted() }

    /// - Parameter isModification: whether a row that keeps its place is reported as modified.
    mutating func add(_ ids: Set<ObjectID>, isModification: Bool, version: UInt64) {
        for id in ids { columns[id, default: 0] |= isModification ? .max : 0 }
        if !ids.isEmpty { self.version = max(self.version, version) }
    }

    /// Columns that count as written.
    func columns(of id: ObjectID) -> UInt64 { columns[id] ?? 0 }

    /// Columns that count as written, for a row that is processed now. Removes the row.
    mutating func take(_ id: ObjectID) -> UInt64 { columns.isEmpty ? 0 : columns.removeValue(forKey: id) ?? 0 }
}

extension NetChanges {
    /// Version of the last change of a row, as an observer of the tree sees it.
    func version(of row: ChangedRow, _ tree: SharedTree, isDependant: Bool) -> UInt64 {
        let own = version(of: row, observed: tree.key.observed)
        return isDependant ? max(own, tree.dependants.value.version) : own
    }
}

extension SharedTree {
    /// Notes the dependants that were not noted as written rows.
    /// - Parameter version: version at which they count as modified; nil for the version of the step.
    func noteDependants(from old: Snapshot, to new: Snapshot, version: UInt64? = nil) {
        for id in dependants.value.ids {
            let columns = dependants.value.take(id)
            _ = note(
                id, from: old, old: old.row(table, id), to: new, new: new.row(table, id), columns: columns,
                version: version ?? dependants.value.version)
        }
        dependants.value = DependantRows()
    }

    /// Moves this tree alone from one snapshot to another. Moving to an older one, rows modified in between get its
    /// version as their stamp (the version that last changed an observed column).
    /// - Parameter found: called when `dependants` is known and before anything has changed.
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
            let extra = dependants.value.take(row.id)
            _ = note(
                row.id, from: from, old: from.row(table, row.id), to: to, new: to.row(table, row.id),
                columns: row.columns | extra,
                version: isForward ? changes.version(of: row, self, isDependant: extra != 0) : to.version)
        }
        noteDependants(from: from, to: to, version: isForward ? nil : to.version)
        applyNoted { _ in }
    }

    /// Rows of a query at `to` with observed columns written since `from`, also through links. Any thread.
    static func written(from: Snapshot, to: Snapshot, _ key: TreeKey, _ table: Table) -> Set<ObjectID> {
        guard from.version < to.version else { return [] }
        // Starting with an empty tree, it ends with the changed rows. Rows that only moved have stamp 0.
        let changed = SharedTree(key, table)
        var none = EntryCollector(key, table)
        changed.tree.value = none.makeTree(stamp: from.version)
        changed.move(from: from, to: to)
        guard let tree = changed.tree.value?.base else { return [] }
        return Set(tree.entries.lazy.filter { $0.stamp > from.version }.map { ObjectID(rawValue: $0.key.id) })
    }
}

/// Dependencies of a store's trees on rows of other tables.
struct Dependencies {
    /// A path of links from a tree's rows to rows of another table that the tree reads.
    private struct Use {
        let tree: SharedTree
        let way: [LinkEdge]
        let columns: UInt64
        /// Whether a change there modifies the row. If false, it may only change the row's membership or place.
        let isModification: Bool
    }

    private let storage: Storage
    /// Uses by the table at the end of their path.
    private var uses: [UInt32: [Use]] = [:]
    /// Trees that depend on all objects within `Observed.depth` links, by table.
    private var deep: [UInt32: [SharedTree]] = [:]
    /// Tables that links of such trees' rows lead to, with the number of links that may still be followed from there.
    private var reached: [UInt32: Int] = [:]

    init(_ storage: Storage) { self.storage = storage }
    var isEmpty: Bool { uses.isEmpty && deep.isEmpty }

    /// Whether changes of the table matter to trees that read its rows through links.
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

    /// Makes changes along a path count for the tree.
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

    /// Number of links followed from a tree's rows. One more for list elements, which are not objects themselves.
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

    /// Stores in each tree's `dependants` its rows that depend on changed rows.
    /// - Returns: the trees with dependants, by table.
    func find(_ changes: NetChanges, in new: Snapshot) -> [UInt32: [SharedTree]] {
        var found: [ObjectIdentifier: SharedTree] = [:]
        func add(_ ids: Set<ObjectID>, to tree: SharedTree, isModification: Bool) {
            if ids.isEmpty { return }
            tree.dependants.value.add(ids, isModification: isModification, version: new.version)
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

    /// Rows at the start of a path of links that leads to one of `ids`.
    static func roots(
        _ ids: some Sequence<ObjectID>, _ way: [LinkEdge], in source: any RowSource
    ) -> Set<ObjectID> {
        way.reversed().reduce(Set(ids)) { source.sources(of: $0, along: $1) }
    }

    /// Rows of observed tables that lead to `changed` rows. Links to a row are followed back once, from the shortest
    /// path.
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
