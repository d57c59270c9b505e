// Trees that are kept beside a tree and travel with it, so that whoever is handed a root can go on from there: a
// connection puts its own writes on what it was delivered. What they are for is TreeForm's business.

/// Immutable.
final class TreesBeside: Sendable {
    let groups: RankedTree?
    let sections: RankedTree?

    init(groups: RankedTree?, sections: RankedTree?) {
        self.groups = groups
        self.sections = sections
    }
}

extension RankedTree {
    /// All rows by group, where only the first of each group is shown.
    package var groups: RankedTree? { root.beside?.groups }
    /// The tree that has every row, under its base key (TreeForm.swift).
    package var base: RankedTree { groups ?? self }
    /// One entry per section, its id being 0.
    package var sections: RankedTree? { root.beside?.sections }

    /// The same rows with other trees beside them. An edit of a tree loses those, so this comes after it.
    package func with(groups: RankedTree?, sections: RankedTree?) -> RankedTree {
        root.node.retain()
        return RankedTree(Root(root.node, shape: root.shape, beside: TreesBeside(groups: groups, sections: sections)))
    }
}
