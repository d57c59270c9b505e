// Sections as a sequence of values for any task: how many rows each has, which they are, and what changed in them.

/// The sections of a query at one version, and how they differ from those of the element before. For any thread.
public struct SectionedUpdate: Sendable {
    /// From the last element to this one; nil in the first.
    public let changes: SectionedChangeSet?
    /// The version of the store at which this is so.
    public let version: UInt64
    let rows: SectionedRows

    /// How many sections there are; none is empty, but the one of rows that have no section keys.
    public var sectionCount: Int { rows.sectionCount }

    /// How many rows a section has. O(log n).
    public func count(ofSection section: Int) -> Int { rows.ranks(of: section).count }

    /// The row at a path, whose object `connection.object(_:withID:)` finds. O(log n).
    public func objectID(at path: RowPath) -> ObjectID { rows.objectID(at: path) }
}

extension SectionedResults {
    /// The changes of these sections as a sequence, for any task: first the sections as they are, then what changed.
    /// Several commits may come as one element; for a slow loop they do. On this connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func changes(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<SectionedUpdate> { try asQuery.changes(keyPaths: keyPaths, file: file, line: line) }
}

extension SectionedQuery {
    package func changes(
        keyPaths: [PartialKeyPath<Object>]?, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<SectionedUpdate> {
        let query = observed(by: keyPaths)
        let plan = query.plan
        return try NewestRows.sequence(query, connection, "\(file):\(line)") { reported, newest in
            let changes = newest.changes(since: reported, plan)
            if let changes, changes.isEmpty { return nil }
            let rows = SectionedRows(newest.tree, plan.window)
            let known = changes.map { SectionedChangeSet($0, from: SectionedRows(reported!, plan.window), to: rows) }
            return SectionedUpdate(changes: known, version: newest.version, rows: rows)
        }
    }
}
