// A live query for targets of this package that show rows in sections. The same type serves results and sectioned
// results, independent of the type of the section keys.
import StillingWellBasis

/// A live query and its rows in sections. On its connection's scheduler.
package struct SectionedQuery<Object: StoredObject> {
    package let connection: Connection
    fileprivate let table: Table
    fileprivate let query: ConnectionQuery

    /// Rows as the connection shows them, including its own writes, except in callbacks. Evaluates the query if needed.
    package var shown: SectionedRows { SectionedRows(connection.shownRows(query).tree, query.window) }

    /// The shown rows and their snapshot. Kept to compute later how they differ from the first delivery.
    package var early: EarlyRows { EarlyRows(rows: shown, snapshot: connection.delivered) }

    /// Returns the changes from rows read before the first delivery to the rows of that delivery. The two come from
    /// separate evaluations, so modifications are the rows written in between. O(n), as for an evaluation.
    /// - Parameters:
    ///   - new: the rows of the first delivery, at the connection's version.
    ///   - keyPaths: properties whose changes are modifications; nil for all.
    /// - Throws: `damaged` or `storage` if the written rows cannot be read.
    package func changes(
        from early: EarlyRows, to new: SectionedRows, keyPaths: [PartialKeyPath<Object>]?
    ) throws(StoreError) -> SectionedChangeSet {
        let changes = early.rows.changes(to: new)
        guard !changes.modifications.isEmpty, let from = early.snapshot, let to = connection.delivered else {
            return changes
        }
        let written = SharedTree.written(from: from, to: to, observed(by: keyPaths).plan.tree, table)
        try from.checkReads()
        try to.checkReads()
        return changes.keepingModifications { written.contains(new.objectID(at: $0)) }
    }

    /// Rows at the connection's `version`, without later own writes. nil if none have been delivered.
    package var delivered: SectionedRows? {
        connection.checkScheduler()
        return query.deliveredToAnyVariant.map { SectionedRows($0, query.window) }
    }

    /// Text that identifies the query across runs and processes. All section functions count as the same.
    package var identity: String { QueryIdentity.of(query.plan, table.schema) }

    /// Returns the path of an object, or nil if it is not shown. O(log n) once the query is evaluated.
    package func path(of id: ObjectID) -> RowPath? {
        guard let index = connection.shownIndex(of: id, query) else { return nil }
        var rows = shown
        return rows.path(ofIndex: index)
    }

    package func objects(ofSection section: Int, in rows: SectionedRows) -> ResultsSection<Int, Object> {
        ResultsSection(
            key: section, connection: connection, table: table, rows: TreeSlice(rows.tree, rows.ranks(of: section)))
    }

    package func object(at path: RowPath, in rows: SectionedRows) -> Object {
        connection.checkScheduler()
        return connection.makeObject(table, rows.objectID(at: path))
    }

    /// - Parameter keyPaths: properties whose changes are modifications; nil for all.
    package func observe(
        keyPaths: [PartialKeyPath<Object>]?, file: String = #fileID, line: Int = #line,
        _ body: @escaping (SectionedRowsChange) -> Void
    ) throws -> NotificationToken {
        let observed = observed(by: keyPaths)
        let window = query.window
        return try connection.observe(observed, madeAt: "\(file):\(line)") { [unowned observed] change in
            switch change {
            case .initial: body(.initial(SectionedRows(observed.delivered ?? RankedTree(), window)))
            case .update(let known, let new):
                let (old, new) = (SectionedRows(known.from, window), SectionedRows(new, window))
                body(.update(SectionedChangeSet(known.changes, from: old, to: new), from: old, to: new))
            case .failed(let error): body(.failed(error))
            }
        }
    }

    func observed(by keyPaths: [PartialKeyPath<Object>]?) -> ConnectionQuery {
        guard let keyPaths else { return query }
        let observed = Observed(keyPaths.map { table.layout.stored(ColumnPath($0)) })
        return connection.query(query.plan.observing(observed), table, showing: query)
    }
}

/// Rows read before the first delivery. Holds their version, so it should be released soon.
package struct EarlyRows {
    package let rows: SectionedRows
    /// Snapshot without own writes. These are in `rows`, and are reported again.
    fileprivate let snapshot: Snapshot?
}

package enum SectionedRowsChange {
    /// The query has been evaluated.
    case initial(SectionedRows)
    case update(SectionedChangeSet, from: SectionedRows, to: SectionedRows)
    /// The query cannot be maintained any more. No further call comes.
    case failed(StoreError)
}

extension Results {
    package var asOneSection: SectionedQuery<Object> {
        checkNotOfList("a section without keys")
        return SectionedQuery(connection: connection, table: table, query: query)
    }
}

extension SectionedResults {
    package var asQuery: SectionedQuery<Object> { SectionedQuery(connection: connection, table: table, query: query) }

    /// Returns the key of a section of `rows`. O(log n).
    package func key(ofSection section: Int, in rows: SectionedRows) -> Key {
        guard let sections = rows.sections else { stopProgram("rows of a query without sections") }
        return key(section, sections)
    }
}

extension Connection {
    /// A test for whether its caller is on the connection's scheduler. Always false for an actor or executor, and for a
    /// connection that is not live. Any thread.
    package var placeCheck: @Sendable () -> Bool {
        guard let scheduler = try? live().scheduler else { return { false } }
        return { scheduler.isCurrent }
    }

    /// Whether the shown rows are the delivered ones, without own writes.
    package var showsDelivered: Bool { transaction == nil && showsDeliveredVersion }
}
