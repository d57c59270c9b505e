// For targets of this package that show sections in other forms: results as one section, and the rows of sections taken
// out of their connection.

extension Results {
    /// These objects as one section; none where there are none.
    package func inOneSection() -> SectionedResults<Int, Object> {
        sectioned(SectionTerm(term: SortTerm(column: 0, ascending: true), function: .constant))
    }
}

extension SectionFunction {
    /// One section for everything. One instance, so that all such queries share their trees.
    fileprivate static let constant = SectionFunction(constant: 0)
}

/// Which rows are in which section, at one version. For any thread.
package struct SectionedRows: Sendable {
    private let tree: RankedTree

    init(_ tree: RankedTree) { self.tree = tree }

    /// From these to others of the same query, which may have been evaluated apart: every row counts as modified then
    /// that is in both and kept its place. O(n).
    package func changes(to new: SectionedRows) -> SectionedChangeSet {
        SectionedChangeSet(.between(tree, new.tree), from: tree, to: new.tree)
    }

    /// The row at a path. O(log n).
    package func objectID(at path: RowPath) -> ObjectID {
        let ranks = SectionPlaces(tree).ranks(of: path.section)
        return ObjectID(rawValue: tree.id(at: ranks.lowerBound + path.row))
    }

    /// The rows of each section. O(n).
    package var ids: [[ObjectID]] {
        let places = SectionPlaces(tree)
        return (0..<places.count).map { section in
            tree.ids(in: places.ranks(of: section)).map { ObjectID(rawValue: $0) }
        }
    }
}

extension SectionedResults {
    /// The rows as shown now.
    package var shownRows: SectionedRows { SectionedRows(connection.shownRows(query)) }

    /// What the query asks, in words that are the same whenever and wherever it is asked of models declared like this.
    package var queryIdentity: String { "\(table.schema)|\(query.plan.identity)" }
}

extension Connection {
    /// Says whether the caller is where the connection is. For any thread.
    package var placeCheck: @Sendable () -> Bool { { [scheduler] in scheduler?.isCurrent ?? false } }
}

extension SectionedChangeSet {
    /// Nothing has changed.
    package static var none: SectionedChangeSet { SectionedChangeSet() }

    /// The changes of the rows alone.
    package var withoutSections: SectionedChangeSet {
        var changes = self
        changes.deletedSections = []
        changes.insertedSections = []
        return changes
    }

    /// Without the modifications of rows for which `isMeant` is false, given their new paths.
    package func keepingModifications(where isMeant: (RowPath) -> Bool) -> SectionedChangeSet {
        var changes = self
        let kept = zip(modifications, modificationsNew).filter { isMeant($0.1) }
        changes.modifications = kept.map(\.0)
        changes.modificationsNew = kept.map(\.1)
        return changes
    }
}
