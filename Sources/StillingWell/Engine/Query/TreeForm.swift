// Structure of shared trees that are more than sorted rows:
//
//     distinct   shows the first row of each group (equal in some columns). A second tree `groups` has all rows by
//                (group, order, id); a changed row affects its old and its new group
//     sections   rows are ordered by (section key, order). A second tree `sections` has one entry per section key
//
// Changes by upkeep, or by a connection with own writes, are applied here, in terms of *base* keys: those of `groups`
// if there are groups, else those of the tree itself. Immutable; any thread.
//
//     base key of a tree with groups: group, order; with sections too: group, order, object id, section key

import Glibc
import StillingWellTree

struct TreeForm: Sendable {
    private let group: SortKeyPrefix?
    private let order: SortKeyPrefix
    /// Section keys at the start of the tree's keys.
    let section: SortKeyPrefix?

    init(_ key: TreeKey, _ table: TableSchema) {
        group =
            key.distinct.isEmpty
            ? nil : SortKeyLayout(key.distinct.map { SortTerm(column: $0, ascending: true) }, table).prefix
        order = SortKeyLayout(key.sort, table).prefix
        section = key.section?.layout(table).prefix
    }

    /// Whether the tree is only its sorted rows.
    var isPlain: Bool { group == nil && section == nil }

    /// Makes a tree of all rows from their base keys. O(n), also O(groups · log groups) and O(sections · log n) if
    /// there are any.
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

    /// Applies changes as `RankedTree.apply`, for base keys. O(log n) per row and group.
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

    /// First row whose key begins with `bytes`, a value of `layout`.
    private func first(_ bytes: ArraySlice<UInt8>, _ layout: SortKeyPrefix, in tree: RankedTree) -> RankedEntry? {
        let rank = tree.lowerBound(of: bytes.withUnsafeBytes { SortKeyBound(bytes: $0) })
        guard rank < tree.count else { return nil }
        let entry = tree.entry(at: rank)
        return Self.prefix(layout, entry.key) == bytes ? entry : nil
    }

    /// Key in the tree of the first row of a group.
    private func shown(_ base: UnsafeRawBufferPointer, id: UInt64, groupLength: Int) -> RankedKey {
        let rest = UnsafeRawBufferPointer(rebasing: base[groupLength...])
        if section == nil { return RankedKey(bytes: rest, id: id) }
        let length = order.length(in: rest)
        let key = Array(rest[(length + 8)...]) + rest[..<length]
        return key.withUnsafeBytes { RankedKey(bytes: $0, id: id) }
    }

    /// Entry in the tree of the first row of a group.
    private func shown(_ entry: RankedEntry, groupLength: Int) -> RankedEntry {
        let key = entry.key.bytes.withUnsafeBytes { shown($0, id: entry.key.id, groupLength: groupLength) }
        return RankedEntry(key: key, stamp: entry.stamp)
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int) -> Bool
    {
        guard count > 0, let left = left.baseAddress, let right = right.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Key in the tree for a row with this base key, if it is shown.
    func shownKey(_ base: RankedKey) -> RankedKey {
        guard let group else { return base }
        return base.bytes.withUnsafeBytes { shown($0, id: base.id, groupLength: group.length(in: $0)) }
    }

    /// Tree with one entry per section key in `rows`. O(sections · log n).
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

    /// Key of a section. Object ids begin with 1, so a section precedes its rows, even if padding makes bytes equal.
    private static func sectionKey(_ bytes: ArraySlice<UInt8>) -> RankedKey {
        bytes.withUnsafeBytes { RankedKey(bytes: $0, id: 0) }
    }
}
