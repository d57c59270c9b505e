// The elements of a list as its connection shows them: read on demand in the order that the store keeps, or from the
// tree of the list's query, as for an observed list. On the connection's scheduler.

struct ListRows {
    private enum Order {
        case stored(any RowSource)
        case shown(RankedTree)
    }

    private let list: StoredList
    private let query: ListQuery
    private let order: Order
    private var connection: Connection { list.binding.connection }

    init(_ list: StoredList, _ query: ListQuery) {
        (self.list, self.query) = (list, query)
        let connection = list.binding.connection
        connection.checkScheduler()
        if let source = connection.anyListSource {
            order = .stored(source)
        } else {
            let query = list.query(query)
            order = connection.listSource(query).map { .stored($0) } ?? .shown(connection.shownRows(query).tree)
        }
    }

    var count: Int { count(near: 0) }

    /// Returns the number of elements. If nothing is cached, reads the elements around `index`, which the caller needs
    /// next.
    func count(near index: Int) -> Int {
        switch order {
        case .stored(let source): run(around: index, source, anyRank: true).count
        case .shown(let tree): tree.count
        }
    }

    /// Returns the row id of an element, or nil if it cannot be read.
    /// - Parameter index: less than `count`.
    func id(at index: Int) -> UInt64? {
        switch order {
        case .stored(let source):
            let run = run(around: index, source)
            return run.ranks.contains(index) ? run.ids[index - run.first] : nil
        case .shown(let tree): return tree.id(at: index)
        }
    }

    /// Returns the row ids at `indices`, with 0 for those that cannot be read. O(log n), and O(1) for each.
    func ids(in indices: Range<Int>) -> [UInt64] {
        switch order {
        case .stored(let source):
            let found = list.order.ids(of: list.binding.id, in: indices, in: source).map(\.rawValue)
            if found.count == indices.count { return found }
            connection.noteFailedReads()
            return found + Array(repeating: 0, count: max(0, indices.count - found.count))
        case .shown(let tree): return Array(tree.ids(in: indices))
        }
    }

    var ids: [UInt64] { ids(in: 0..<count) }

    /// Returns the index of an element, or nil if it is not shown.
    /// - Parameter row: the element's row in the version that properties are read at.
    func rank(of element: ObjectID, _ row: RowReader) -> Int? {
        switch order {
        case .stored(let source):
            // Copied, because the next read may invalidate `row`.
            let position = Array(row.bytes(ListTable.position))
            let found = position.withUnsafeBytes {
                list.order.rank(of: element, at: $0, of: list.binding.id, in: source)
            }
            // Cached, because callers often read or move the element next.
            if let found { remember(found.run) }
            return found?.rank
        case .shown(let tree):
            let query = list.query(query)
            return query.key(row, element, connection.currentSource).flatMap {
                tree.rank(of: query.form.shownKey($0))
            }
        }
    }

    /// Whether the elements are those of the version that properties are read at.
    var areCurrent: Bool {
        switch order {
        case .stored: true
        case .shown: connection.transaction == nil && connection.showsDeliveredVersion
        }
    }

    /// Returns the cached run (adjacent elements, and the list's length) if it contains `rank`, otherwise reads the run
    /// around `rank`.
    /// - Parameter anyRank: whether any cached run will do, for callers that need the length only.
    private func run(around rank: Int, _ source: any RowSource, anyRank: Bool = false) -> ListRun {
        let now = (epoch: connection.rowEpoch, generation: connection.transaction?.generation ?? -1)
        if let known = query.run, (known.epoch, known.generation) == now,
            anyRank || known.elements.ranks.contains(rank)
        {
            return known.elements
        }
        let run = list.order.run(around: rank, of: list.binding.id, in: source)
        if run.ids.isEmpty {
            connection.noteFailedReads()
            // The known length is kept, because loops continue up to it.
            if let known = query.run, (known.epoch, known.generation) == now, known.elements.count > 0 {
                return ListRun(count: known.elements.count, first: 0, ids: [])
            }
        }
        remember(run)
        return run
    }

    private func remember(_ run: ListRun) {
        query.run = (run, connection.rowEpoch, connection.transaction?.generation ?? -1)
    }
}
