// The elements of a list as its connection shows them: in the order that the store keeps, which is read where they are asked for;
// of one that is observed in the order of its tree, and so where others have changed the list since what the connection shows.
// On the connection's scheduler.

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

    /// How many there are, having read those beside `index` where nothing is known yet.
    func count(near index: Int) -> Int {
        switch order {
        case .stored(let source): run(around: index, source, anyRank: true).count
        case .shown(let tree): tree.count
        }
    }

    /// - Parameter index: below `count`.
    /// - Returns: nil where it cannot be read.
    func id(at index: Int) -> UInt64? {
        switch order {
        case .stored(let source):
            let run = run(around: index, source)
            return run.ranks.contains(index) ? run.ids[index - run.first] : nil
        case .shown(let tree): return tree.id(at: index)
        }
    }

    /// As many as there are indices; 0 for what cannot be read. O(log n), and O(1) for each.
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

    /// All of them, in order.
    var ids: [UInt64] { ids(in: 0..<count) }

    /// Where an element is shown that has this row; nil where it is not.
    /// - Parameter row: of the version that properties are read from.
    func rank(of element: ObjectID, _ row: RowReader) -> Int? {
        switch order {
        case .stored(let source):
            // What is read next may end what was read before.
            let position = Array(row.bytes(ListTable.position))
            let found = position.withUnsafeBytes {
                list.order.rank(of: element, at: $0, of: list.binding.id, in: source)
            }
            // Who asks where it is moves it next.
            if let found { remember(found.run) }
            return found?.rank
        case .shown(let tree):
            let query = list.query(query)
            return query.key(row, element, connection.currentSource).flatMap {
                tree.rank(of: query.form.shownKey($0))
            }
        }
    }

    /// Whether they are those of the version that properties are read from.
    var areCurrent: Bool {
        switch order {
        case .stored: true
        case .shown: connection.transaction == nil && connection.showsDeliveredVersion
        }
    }

    /// Neighbours of an element, those that were read last if it is among them.
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
            // The list is as long as it was: who goes over it goes on by its length.
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
