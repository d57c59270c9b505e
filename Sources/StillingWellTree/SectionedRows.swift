// The rows of a query in sections at one version, independent of a connection.

/// The rows of each section at one version. Without section keys there is one section, which may be empty; otherwise no
/// section is empty. Any thread.
package struct SectionedRows: Sendable {
    package let tree: RankedTree
    private let window: TreeWindow
    /// Sections. nil without section keys.
    package private(set) var sections: SectionPlaces?

    /// - Parameter window: the part of the tree that its query shows; it has no bounds if there are section keys.
    package init(_ tree: RankedTree, _ window: TreeWindow) {
        self.tree = tree
        self.window = window
        sections = window.sections == nil ? nil : SectionPlaces(tree)
    }

    package var sectionCount: Int { sections?.count ?? 1 }

    /// Returns the number of rows in a section. O(log n).
    package func count(ofSection section: Int) -> Int { ranks(of: section).count }

    /// Returns the ranks of a section's rows in the tree. O(log n).
    package func ranks(of section: Int) -> Range<Int> {
        precondition(
            section >= 0 && section < sectionCount, "section \(section) is outside of \(sectionCount) sections")
        return sections?.ranks(of: section) ?? tree.ranks(in: window)
    }

    /// Returns the id of the row at a path. O(log n).
    package func objectID(at path: RowPath) -> ObjectID {
        let ranks = ranks(of: path.section)
        precondition(
            path.row >= 0 && path.row < ranks.count, "row \(path.row) is outside of a section of \(ranks.count) rows")
        return ObjectID(rawValue: tree.id(at: ranks.lowerBound + path.row))
    }

    /// Returns the path of the row at an index among all rows. O(log n); O(1) in the section used last.
    package mutating func path(ofIndex index: Int) -> RowPath {
        sections?.path(ofRank: index) ?? RowPath(section: 0, row: index)
    }

    /// Paths of all rows by id. O(n).
    package var paths: [ObjectID: RowPath] {
        var paths: [ObjectID: RowPath] = [:]
        for section in 0..<sectionCount {
            for (row, id) in tree.ids(in: ranks(of: section)).enumerated() {
                paths[ObjectID(rawValue: id)] = RowPath(section: section, row: row)
            }
        }
        return paths
    }

    /// Returns the changes to `new`, which shows the same query. If the two were evaluated separately, unchanged rows
    /// may count as modified; the caller must filter these. O(n).
    package func changes(to new: SectionedRows) -> SectionedChangeSet {
        SectionedChangeSet(.between(tree, new.tree, in: window), from: self, to: new)
    }
}

extension SectionedChangeSet {
    /// A change set without changes.
    package static var none: SectionedChangeSet { SectionedChangeSet() }

    /// Returns the changes without the modifications for whose new paths `isMeant` returns false.
    package func keepingModifications(where isMeant: (RowPath) -> Bool) -> SectionedChangeSet {
        var changes = self
        let kept = zip(modifications, modificationsNew).filter { isMeant($0.1) }
        changes.modifications = kept.map(\.0)
        changes.modificationsNew = kept.map(\.1)
        return changes
    }
}
