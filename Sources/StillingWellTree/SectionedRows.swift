// The rows of a query in sections at one version, taken out of their connection.

/// Which rows are in which section, at one version. Without section keys all are in one, which is there even when it is
/// empty; otherwise no section is. For any thread.
package struct SectionedRows: Sendable {
    package let tree: RankedTree
    private let window: TreeWindow
    /// nil where there are no section keys.
    package private(set) var sections: SectionPlaces?

    /// - Parameter window: of the tree's query; with section keys it has no bounds.
    package init(_ tree: RankedTree, _ window: TreeWindow) {
        self.tree = tree
        self.window = window
        sections = window.sections == nil ? nil : SectionPlaces(tree)
    }

    /// How many sections there are.
    package var sectionCount: Int { sections?.count ?? 1 }

    /// How many rows a section has. O(log n).
    package func count(ofSection section: Int) -> Int { ranks(of: section).count }

    /// The places of a section's rows in the tree. O(log n).
    package func ranks(of section: Int) -> Range<Int> {
        precondition(
            section >= 0 && section < sectionCount, "section \(section) is outside of \(sectionCount) sections")
        return sections?.ranks(of: section) ?? tree.ranks(in: window)
    }

    /// The row at a path. O(log n).
    package func objectID(at path: RowPath) -> ObjectID {
        let ranks = ranks(of: path.section)
        precondition(
            path.row >= 0 && path.row < ranks.count, "row \(path.row) is outside of a section of \(ranks.count) rows")
        return ObjectID(rawValue: tree.id(at: ranks.lowerBound + path.row))
    }

    /// The path of the row at an index of the whole run of rows. O(log n), O(1) in the section looked at last.
    package mutating func path(ofIndex index: Int) -> RowPath {
        sections?.path(ofRank: index) ?? RowPath(section: 0, row: index)
    }

    /// The path of every row. O(n).
    package var paths: [ObjectID: RowPath] {
        var paths: [ObjectID: RowPath] = [:]
        for section in 0..<sectionCount {
            for (row, id) in tree.ids(in: ranks(of: section)).enumerated() {
                paths[ObjectID(rawValue: id)] = RowPath(section: section, row: row)
            }
        }
        return paths
    }

    /// From these to others of the same query. Where the two have been evaluated apart every row counts as modified that
    /// is in both and kept its place: the caller knows better. O(n).
    package func changes(to new: SectionedRows) -> SectionedChangeSet {
        SectionedChangeSet(.between(tree, new.tree, in: window), from: self, to: new)
    }
}

extension SectionedChangeSet {
    /// Nothing has changed.
    package static var none: SectionedChangeSet { SectionedChangeSet() }

    /// Without the modifications of rows for which `isMeant` is false, given their new paths.
    package func keepingModifications(where isMeant: (RowPath) -> Bool) -> SectionedChangeSet {
        var changes = self
        let kept = zip(modifications, modificationsNew).filter { isMeant($0.1) }
        changes.modifications = kept.map(\.0)
        changes.modificationsNew = kept.map(\.1)
        return changes
    }
}
