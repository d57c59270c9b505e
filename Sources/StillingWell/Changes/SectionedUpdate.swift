// Changes of sectioned results as an asynchronous sequence.

/// The sections of a query at one version, and the changes since the previous element. Any thread.
public struct SectionedUpdate: Sendable {
    /// Changes since the previous element. nil in the first element.
    public let changes: SectionedChangeSet?
    /// Version of the store at which the query has these sections.
    public let version: UInt64
    let rows: SectionedRows

    /// Number of sections. No section is empty, except the only section of a query without section keys.
    public var sectionCount: Int { rows.sectionCount }

    /// Returns the number of rows in a section. O(log n).
    public func count(ofSection section: Int) -> Int { rows.ranks(of: section).count }

    /// Returns the id of the row at `path`. `connection.object(_:withID:)` finds its object. O(log n).
    public func objectID(at path: RowPath) -> ObjectID { rows.objectID(at: path) }
}

extension SectionedResults {
    /// Returns the changes of these sections as a sequence for any task. The first element has the sections, the others
    /// the changes. One element may cover several commits, in particular in a slow loop. On this connection's
    /// scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`; `otherStore`,
    ///   `otherClass`, `filterTooDeep` for an invalid filter.
    public func changes(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<SectionedUpdate> { try asQuery.changes(keyPaths: keyPaths, file: file, line: line) }
}

extension SectionedQuery {
    package func changes(
        keyPaths: [PartialKeyPath<Object>]?, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<SectionedUpdate> {
        let query = observed(by: keyPaths)
        let window = query.plan.window
        typealias Newest = NewestRows<NoOrigin>
        let channel = Newest.channel()
        try Newest.send(query, of: connection, NoOrigin(), lends: false, to: channel, "\(file):\(line)")
        return Newest.sequence(channel) { reported, newest in
            let changes = newest.changes(since: reported)
            if let changes, changes.isEmpty { return nil }
            let rows = SectionedRows(newest.tree, window)
            let known = changes.map { SectionedChangeSet($0, from: SectionedRows(reported!, window), to: rows) }
            return SectionedUpdate(changes: known, version: newest.version, rows: rows)
        }
    }
}

/// Elements of sections have ids and no rows.
private struct NoOrigin: Sendable {}
