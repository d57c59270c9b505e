// How a shared tree follows from its rows where it is more than those rows in order:
//
//     distinct   of each group of rows (equal in some columns) the first in order is shown. Beside the tree stands
//                another, `groups`, of all rows by (group, order, id); a changed row touches its old and its new group
//     sections   rows are in order of (section key, order). Beside the tree stands `sections`, one entry per key
//
// Whoever changes a tree, upkeep or a connection with own writes, does it here. What is changed are *base* keys: those of
// `groups` where there are groups, else those of the tree itself. Immutable; any thread.
//
//     base key of a tree with groups: group, order; with sections too: group, order, object id, section key

package struct TreeForm: Sendable {
    private let group: SortKeyPrefix?
    private let order: SortKeyPrefix
    /// The section keys that the tree's keys begin with.
    let section: SortKeyPrefix?

    init(_ key: TreeKey, _ table: TableSchema) {
        group =
            key.distinct.isEmpty
            ? nil : SortKeyLayout(key.distinct.map { SortTerm(column: $0, ascending: true) }, table).prefix
        order = SortKeyLayout(key.sort, table).prefix
        section = key.section?.layout(table).prefix
    }

    /// Whether the tree is its rows and nothing else.
    var isPlain: Bool { group == nil && section == nil }

    /// A tree of rows whose base keys are numbers, which ascend. O(n).
    func tree(sorted base: UnsafeBufferPointer<RankedNumber>, stamp: UInt64) -> RankedTree {
        if isPlain { return RankedTree(sorted: base, stamp: stamp) }
        return tree(sorted: base.lazy.map { RankedEntry(key: RankedKey(prefix: $0.prefix, id: $0.id), stamp: stamp) })
    }

    /// A tree of all rows. `base` ascends. O(n), and O(groups · log groups) with groups.
    func tree(sorted base: some Sequence<RankedEntry>) -> RankedTree {
        if isPlain { return RankedTree(sorted: base) }
        let all = RankedTree(sorted: base)
        guard let group else { return all.with(groups: nil, sections: sections(of: all)) }
        var firsts: [RankedEntry] = []
        var current: ArraySlice<UInt8>?
        for entry in all.entries {
            let bytes = entry.key.bytes
            let length = group.length(in: bytes[...])
            if let current, current == bytes[..<length] { continue }
            current = bytes[..<length]
            firsts.append(shown(entry, bytes, groupLength: length))
        }
        firsts.sort { $0.key < $1.key }
        let rows = RankedTree(sorted: firsts)
        return rows.with(groups: all, sections: sections(of: rows))
    }

    /// As `RankedTree.apply`, for base keys. O(log n) per row and group.
    package func apply(
        removals: [RankedKey], insertions: [RankedEntry], values: [UInt64]? = nil, to tree: inout RankedTree
    ) {
        if isPlain { return tree.apply(removals: removals, insertions: insertions, values: values) }
        if removals.isEmpty, insertions.isEmpty { return }
        guard let group, var groups = tree.groups else {
            return applyToRows(removals: removals, insertions: insertions, values, groups: nil, &tree)
        }
        var touched: Set<ArraySlice<UInt8>> = []
        for key in removals { touched.insert(Self.prefix(group, key)) }
        for entry in insertions { touched.insert(Self.prefix(group, entry.key)) }
        let before = groups
        groups.apply(removals: removals, insertions: insertions, values: values)
        var gone: [RankedKey] = []
        var come: [RankedEntry] = []
        var words: [UInt64]? = values.map { _ in [] }
        for bytes in touched {
            let old = first(bytes, group, in: before)
            let new = first(bytes, group, in: groups)
            if let new, new != old {
                come.append(shown(new, new.key.bytes, groupLength: bytes.count))
                words?.append(contentsOf: groups.words(at: groups.lowerBound(of: new.key)))
            }
            if let old, old.key != new?.key { gone.append(shown(old, old.key.bytes, groupLength: bytes.count).key) }
        }
        applyToRows(removals: gone, insertions: come, words, groups: groups, &tree)
    }

    private func applyToRows(
        removals: [RankedKey], insertions: [RankedEntry], _ values: [UInt64]?, groups: RankedTree?,
        _ tree: inout RankedTree
    ) {
        var rows = tree
        rows.apply(removals: removals, insertions: insertions, values: values)
        var sections = tree.sections
        if let section, sections != nil {
            var touched = Set(removals.map { Self.prefix(section, $0) })
            touched.formUnion(insertions.map { Self.prefix(section, $0.key) })
            for bytes in touched { set(bytes, section, isPresent: first(bytes, section, in: rows) != nil, &sections!) }
        }
        tree = rows.with(groups: groups, sections: sections)
    }

    private static func prefix(_ layout: SortKeyPrefix, _ key: RankedKey) -> ArraySlice<UInt8> {
        let bytes = key.bytes
        return bytes.prefix(layout.length(in: bytes[...]))
    }

    /// The first row whose key begins with `bytes`, a value of `layout`.
    private func first(_ bytes: ArraySlice<UInt8>, _ layout: SortKeyPrefix, in tree: RankedTree) -> RankedEntry? {
        let rank = tree.lowerBound(of: bytes.withUnsafeBytes { SortKeyBound(bytes: $0) })
        guard rank < tree.count else { return nil }
        let entry = tree.entry(at: rank)
        return Self.prefix(layout, entry.key) == bytes ? entry : nil
    }

    /// The first row of a group as the tree shows it.
    private func shown(_ entry: RankedEntry, _ base: [UInt8], groupLength: Int) -> RankedEntry {
        let rest = base[groupLength...]
        let key: [UInt8]
        if section == nil {
            key = Array(rest)
        } else {
            let length = order.length(in: rest)
            key = Array(rest.dropFirst(length + 8) + rest.prefix(length))
        }
        return RankedEntry(key: key.withUnsafeBytes { RankedKey(bytes: $0, id: entry.key.id) }, stamp: entry.stamp)
    }

    /// The key that a row of this base key is shown by, where it is shown.
    package func shownKey(_ base: RankedKey) -> RankedKey {
        guard let group else { return base }
        let bytes = base.bytes
        return shown(RankedEntry(key: base, stamp: 0), bytes, groupLength: group.length(in: bytes[...])).key
    }

    /// One entry per section key among `rows`. O(sections · log n).
    private func sections(of rows: RankedTree) -> RankedTree? {
        guard let section else { return nil }
        var keys: [RankedEntry] = []
        var rank = 0
        while rank < rows.count {
            let bytes = Self.prefix(section, rows.entry(at: rank).key)
            keys.append(RankedEntry(key: Self.sectionKey(bytes), stamp: 0))
            let end = SortKeyBytes.successor(of: Array(bytes))
            rank = end.map { end in rows.lowerBound(of: end.withUnsafeBytes { SortKeyBound(bytes: $0) }) } ?? rows.count
        }
        return RankedTree(sorted: keys)
    }

    private func set(
        _ bytes: ArraySlice<UInt8>, _ section: SortKeyPrefix, isPresent: Bool, _ sections: inout RankedTree
    ) {
        let key = Self.sectionKey(bytes)
        if (sections.rank(of: key) != nil) == isPresent { return }
        sections.edit { edit in
            if isPresent { edit.insert(RankedEntry(key: key, stamp: 0)) } else { edit.remove(key) }
        }
    }

    /// Objects have ids from 1 on, so a section stands before its rows, even where padding makes their bytes equal.
    private static func sectionKey(_ bytes: ArraySlice<UInt8>) -> RankedKey {
        bytes.withUnsafeBytes { RankedKey(bytes: $0, id: 0) }
    }
}
