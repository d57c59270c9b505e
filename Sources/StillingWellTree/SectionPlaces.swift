// The ranks of a tree's sections, found by the tree of section keys that accompanies it.

/// The position of a row in a sectioned collection.
public struct RowPath: Sendable, Hashable, Comparable {
    /// Index of the section.
    public let section: Int
    /// Index within the section.
    public let row: Int

    /// Makes the path of a row in a section.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    public static func < (left: RowPath, right: RowPath) -> Bool {
        (left.section, left.row) < (right.section, right.row)
    }
}

/// The sections of one tree. Caches the section used last, so that ascending ranks cost little.
package struct SectionPlaces {
    package let rows: RankedTree
    private let sections: RankedTree
    private var last: (section: Int, ranks: Range<Int>)?

    /// - Parameter rows: a tree with sections.
    package init(_ rows: RankedTree) {
        self.rows = rows
        sections = rows.sections ?? RankedTree()
    }

    package var count: Int { sections.count }
    package func key(of section: Int) -> RankedKey { sections.entry(at: section).key }

    /// Returns the ranks of a section's rows. O(log n).
    package func ranks(of section: Int) -> Range<Int> { start(of: section)..<start(of: section + 1) }

    private func start(of section: Int) -> Int {
        section == count ? rows.count : rows.lowerBound(of: sections.entry(at: section).key)
    }

    /// Returns the path of the row at `rank`. O(log n); O(1) in the section used last.
    package mutating func path(ofRank rank: Int) -> RowPath {
        if let last, last.ranks.contains(rank) {
            return RowPath(section: last.section, row: rank - last.ranks.lowerBound)
        }
        let key = rows.entry(at: rank).key
        // The last section whose key does not follow the row's.
        let section = sections.lowerBound(of: key) - 1
        let ranks = ranks(of: section)
        last = (section, ranks)
        return RowPath(section: section, row: rank - ranks.lowerBound)
    }

    /// Returns the sections that are in one tree only, each as an index in its own tree.
    static func changes(from old: SectionPlaces, to new: SectionPlaces) -> (deleted: [Int], inserted: [Int]) {
        let difference = TreeDifference(from: old.sections, to: new.sections)
        return (difference.deleted.map(\.rank), difference.inserted.map(\.rank))
    }
}
