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

import Glibc
import StillingWellTree

struct TreeForm: Sendable {
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

    /// A tree of all rows, by their base keys. O(n), and O(groups · log groups) with groups.
    func tree(sorted keys: SortedKeys, stamp: UInt64) -> RankedTree {
        let all = RankedTree(sorted: keys.entries(stamp: stamp))
        if isPlain { return all }
        guard let group else { return all.with(groups: nil, sections: sections(of: all)) }
        var firsts: [RankedEntry] = []
        var current: UnsafeRawBufferPointer?
        for place in 0..<keys.count {
            let key = keys[place]
            let length = group.length(in: key)
            if let current, current.count == length, Self.areEqual(key, current, length) { continue }
            current = UnsafeRawBufferPointer(rebasing: key[..<length])
            firsts.append(RankedEntry(key: shown(key, id: keys.id(place), groupLength: length), stamp: stamp))
        }
        firsts.sort { $0.key < $1.key }
        let rows = RankedTree(sorted: firsts)
        return rows.with(groups: all, sections: sections(of: rows))
    }

    /// As `RankedTree.apply`, for base keys. O(log n) per row and group.
    func apply(
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
                come.append(shown(new, groupLength: bytes.count))
                words?.append(contentsOf: groups.words(at: groups.lowerBound(of: new.key)))
            }
            if let old, old.key != new?.key { gone.append(shown(old, groupLength: bytes.count).key) }
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

    /// The key that the first row of a group is shown by.
    private func shown(_ base: UnsafeRawBufferPointer, id: UInt64, groupLength: Int) -> RankedKey {
        let rest = UnsafeRawBufferPointer(rebasing: base[groupLength...])
        if section == nil { return RankedKey(bytes: rest, id: id) }
        let length = order.length(in: rest)
        let key = Array(rest[(length + 8)...]) + rest[..<length]
        return key.withUnsafeBytes { RankedKey(bytes: $0, id: id) }
    }

    /// The first row of a group as the tree shows it.
    private func shown(_ entry: RankedEntry, groupLength: Int) -> RankedEntry {
        let key = entry.key.bytes.withUnsafeBytes { shown($0, id: entry.key.id, groupLength: groupLength) }
        return RankedEntry(key: key, stamp: entry.stamp)
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int) -> Bool
    {
        guard count > 0, let left = left.baseAddress, let right = right.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// The key that a row of this base key is shown by, where it is shown.
    func shownKey(_ base: RankedKey) -> RankedKey {
        guard let group else { return base }
        return base.bytes.withUnsafeBytes { shown($0, id: base.id, groupLength: group.length(in: $0)) }
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
