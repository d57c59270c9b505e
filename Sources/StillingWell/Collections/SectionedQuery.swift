// A live query for those targets of this package that show its rows in sections, in a form of their own: one face for
// results and for sectioned results, whatever the type of the section keys.
import StillingWellBasis

/// A live query and its rows in sections. On its connection's scheduler.
package struct SectionedQuery<Object: StoredObject> {
    package let connection: Connection
    fileprivate let table: Table
    fileprivate let query: ConnectionQuery

    /// The rows as the connection shows them now, with its own writes. Evaluates the query if nobody has.
    package var shown: SectionedRows { SectionedRows(connection.shownRows(query).tree, query.window) }

    /// What `shown` is now, and where it stands: for somebody who will be told later how it became what was delivered first.
    package var early: EarlyRows { EarlyRows(rows: shown, snapshot: connection.delivered) }

    /// How rows that were read before the first delivery became those of the first. The two have been evaluated apart, so
    /// what has been modified is what was written in between. O(n), as an evaluation.
    /// - Parameters:
    ///   - new: the rows of the first delivery, at which the connection stands.
    ///   - keyPaths: the properties whose changes are modifications; nil means all.
    /// - Throws: `storage` where what was written cannot be read.
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

    /// The rows at the connection's `version`, without its own writes since; nil where none have been delivered.
    package var delivered: SectionedRows? {
        connection.checkScheduler()
        return query.deliveredToAnyVariant.map { SectionedRows($0, query.window) }
    }

    /// What is asked, as text that is the same whenever and wherever it is asked, and another for every other query; all
    /// functions of a section key count as one. O(columns + conditions).
    package var identity: String { QueryIdentity.of(query.plan, table.schema) }

    /// The path of an object as shown now; nil where it is not shown. O(log n).
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

    /// - Parameter keyPaths: the properties whose changes are modifications; nil means all.
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

/// Rows read before the first delivery. Holds the version they stand at, so it should be let go of soon.
package struct EarlyRows {
    package let rows: SectionedRows
    /// Without own writes, which are in `rows` already and are told nevertheless.
    fileprivate let snapshot: Snapshot?
}

package enum SectionedRowsChange {
    /// The query has been evaluated.
    case initial(SectionedRows)
    case update(SectionedChangeSet, from: SectionedRows, to: SectionedRows)
    /// The query cannot be kept any more; no further call comes.
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

    /// The key of a section of `rows`. O(log n).
    package func key(ofSection section: Int, in rows: SectionedRows) -> Key {
        guard let sections = rows.sections else { stopProgram("rows of a query without sections") }
        return key(section, sections)
    }
}

extension Connection {
    /// Whether the caller is where the connection is. For any thread.
    package var placeCheck: @Sendable () -> Bool {
        guard let scheduler = try? live().scheduler else { return { false } }
        return { scheduler.isCurrent }
    }

    /// Whether what is shown is what was delivered last, without own writes.
    package var showsDelivered: Bool { transaction == nil && showsDeliveredVersion }
}
