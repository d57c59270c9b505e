// Sections as a sequence of values for any task: how many rows each has, which they are, and what changed in them.

/// The sections of a query at one version, and how they differ from those of the element before. For any thread.
public struct SectionedUpdate: Sendable {
    /// From the last element to this one; nil in the first.
    public let changes: SectionedChangeSet?
    /// The version of the store at which this is so.
    public let version: UInt64
    private let places: SectionPlaces

    init(_ changes: SectionedChangeSet?, version: UInt64, _ tree: RankedTree) {
        self.changes = changes
        self.version = version
        places = SectionPlaces(tree)
    }

    /// How many sections there are; none is empty.
    public var sectionCount: Int { places.count }

    /// How many rows a section has. O(log n).
    public func count(ofSection section: Int) -> Int { places.ranks(of: section).count }

    /// The row at a path, whose object `connection.object(_:withID:)` finds. O(log n).
    public func objectID(at path: RowPath) -> ObjectID {
        let ranks = places.ranks(of: path.section)
        precondition(
            path.row >= 0 && path.row < ranks.count, "row \(path.row) is outside of a section of \(ranks.count) rows")
        return ObjectID(rawValue: places.rows.id(at: ranks.lowerBound + path.row))
    }
}

extension SectionedResults {
    /// The changes of these sections as a sequence, for any task: first the sections as they are, then what changed.
    /// Several commits may come as one element; for a slow loop they do. On this connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func changes(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<SectionedUpdate> {
        let query = keyPaths.map(observed(by:)) ?? query
        let plan = query.plan
        return try NewestRows.sequence(query, connection, "\(file):\(line)") { reported, newest in
            let changes = newest.changes(since: reported, plan)
            if let changes, changes.isEmpty { return nil }
            let sectioned = changes.map { SectionedChangeSet($0, from: reported!, to: newest.tree) }
            return SectionedUpdate(sectioned, version: newest.version, newest.tree)
        }
    }
}
