// A list of a stored object, without the type of its elements: which rows it is, and how it changes. Indices are those
// of the rows the connection shows; what they name may have been changed or deleted by somebody else since.

struct StoredList {
    let binding: RowBinding
    private let column: Int
    private let elements: Table

    /// - Parameter ordinal: the list property's place in its class.
    init(_ binding: RowBinding, _ ordinal: Int) {
        self.binding = binding
        column = binding.table.layout.column(ordinal)
        elements = binding.connection.core.storage.tablesByID[binding.table.links!.list(column)!.elements]!
    }

    var connection: Connection { binding.connection }

    var source: ListSource { ListSource(elements: elements, owner: binding.id) }

    /// The number of the table that the elements are rows of.
    var table: UInt32 { elements.id }

    /// For messages about indices.
    var whatItHas: String { "elements of \(elements.schema.name)" }

    // MARK: Reading

    /// The list as a query: the elements of this owner, by their positions.
    func makeQuery() -> ConnectionQuery {
        let owner = FilterExpression.compare(column: ListTable.owner, .equal, .link(binding.id), isOptional: true)
        let plan = QueryPlan(
            table: elements, filter: owner, sort: [SortTerm(column: ListTable.position, ascending: true)])
        return connection.query(plan, elements)
    }

    func row(_ element: UInt64) -> RowReader? { connection.rowForGetter(elements, ObjectID(rawValue: element)) }

    private func position(_ rows: RankedTree, _ index: Int) -> [UInt8]? {
        guard rows.count > index, index >= 0 else { return nil }
        return row(rows.id(at: index)).map { Array($0.bytes(ListTable.position)) }
    }

    /// What finds the elements that lead to an object; nil where they are not those that are shown, or where no element can.
    func linkIndex(for object: RowBinding) -> ColumnIndex? {
        guard connection.transaction == nil ? connection.showsDeliveredVersion : connection.delivered == nil,
            let edge = binding.table.links?.edge(column), edge.target == object.table.id
        else { return nil }
        return edge.index
    }

    /// The first place of an object. O(log n) for each element of any list that leads to it.
    func place(of object: RowBinding, by index: ColumnIndex, _ query: ConnectionQuery) throws(StoreError) -> Int? {
        let rows = connection.listRows(query)
        var first: Int?
        for element in connection.currentSource?.ids(index, linkingTo: object.id) ?? [] {
            guard let row = connection.currentRow(elements, element), row.slot(ListTable.owner) == binding.id.rawValue,
                let key = query.key(row, element, connection.currentSource),
                let rank = rows.rank(of: query.form.shownKey(key))
            else { continue }
            first = min(first ?? rank, rank)
        }
        try connection.checkReads()
        return first
    }

    // MARK: Changing

    /// Runs a change; what goes wrong makes the write fail.
    func change(_ body: () throws -> Void) {
        connection.checkScheduler()
        do { try body() } catch { connection.failWrite(error) }
    }

    private var transaction: WriteTransaction {
        guard let transaction = connection.transaction else { preconditionFailure("\(StoreError.notInWrite)") }
        return transaction
    }

    /// Counts changes of the list, which its owner's row shows, and its observers hear of.
    private func count(_ changes: Int) throws(StoreError) -> UInt64 {
        let last = try transaction.countChanges(changes, binding.table, binding.id, column)
        connection.noteOwnChange(binding.table, binding.id, .update)
        return last
    }

    /// - Parameter query: nil of a list that nobody can have read.
    func append(_ values: [(RowBuffer, Int) -> Void], _ query: ConnectionQuery? = nil) throws(StoreError) {
        if values.isEmpty { return }
        let rows = query.flatMap { connection.standingRows($0) }
        var change = try count(values.count) - UInt64(values.count)
        var added: [ObjectID] = []
        for value in values {
            change += 1
            added.append(try insert(value, ListPosition.last(change)))
        }
        if let query, let rows { connection.showListChange(query, rows, adding: added) }
    }

    /// Gives the list other elements, whatever is shown of it. By `modified` those stay that are the same up to the first
    /// that differs.
    func replace(with values: [(RowBuffer, Int) -> Void], _ policy: UpdatePolicy) throws(StoreError) {
        let rows = try connection.evaluate(makeQuery().plan.tree, elements, in: transaction)
        let ids = rows.ids(in: 0..<rows.count).map { ObjectID(rawValue: $0) }
        let kept = policy == .modified ? zip(ids, values).prefix { has($0, $1) }.count : 0
        try delete(ids[kept...])
        try append(Array(values[kept...]))
    }

    private func has(_ id: ObjectID, _ value: (RowBuffer, Int) -> Void) -> Bool {
        guard let row = row(id.rawValue) else { return false }
        let wanted = RowBuffer()
        wanted.reset(columnCount: elements.schema.columns.count)
        value(wanted, ListTable.value)
        return wanted.reader.columns(differingFrom: row, elements.schema) & 1 << UInt64(ListTable.value) == 0
    }

    func insert(_ value: (RowBuffer, Int) -> Void, at index: Int, _ query: ConnectionQuery) throws(StoreError) {
        let rows = connection.listRows(query)
        checkIndex(index, of: rows.count + 1, "places to insert at in \(elements.schema.name)")
        let before = position(rows, index - 1)
        let after = position(rows, index)
        let id = try insert(value, place(before, after, try count(1)))
        connection.showListChange(query, rows, adding: [id])
    }

    private func insert(_ value: (RowBuffer, Int) -> Void, _ position: [UInt8]) throws(StoreError) -> ObjectID {
        let id = try transaction.insert(elements) { row in
            row.reset(columnCount: elements.schema.columns.count)
            row.setSlot(ListTable.owner, binding.id.rawValue)
            position.withUnsafeBytes { row.setBytes(ListTable.position, $0) }
            value(row, ListTable.value)
        }
        connection.noteOwnChange(elements, id, .insert)
        return id
    }

    /// A position between two, either of which may be missing.
    private func place(_ before: [UInt8]?, _ after: [UInt8]?, _ change: UInt64) -> [UInt8] {
        guard let before else { return after == nil ? ListPosition.last(change) : ListPosition.first(change) }
        guard let after else { return ListPosition.last(change) }
        // Somebody else may have moved one past the other; then the place behind the first is as good.
        guard before.lexicographicallyPrecedes(after) else { return ListPosition.behind(before, change) }
        return ListPosition.between(before, after, change)
    }

    func set(_ value: (RowBuffer, Int) -> Void, at index: Int, _ query: ConnectionQuery) throws(StoreError) {
        let rows = connection.listRows(query)
        try update(id(at: index, rows), ListTable.value, value)
        _ = try count(1)
        connection.showListChange(query, rows)
    }

    func remove(at index: Int, _ query: ConnectionQuery) throws(StoreError) { try remove(index..<index + 1, query) }

    /// Takes elements off the list, and off the rows shown even where somebody else has done so first.
    func remove(_ indices: Range<Int>, _ query: ConnectionQuery) throws(StoreError) {
        if indices.isEmpty { return }
        let rows = connection.listRows(query)
        for index in [indices.lowerBound, indices.upperBound - 1] { _ = id(at: index, rows) }
        let keys = rows.entries(in: indices).map(\.key)
        try delete(keys.map { ObjectID(rawValue: $0.id) }[...])
        connection.showListChange(query, rows, removing: keys)
    }

    private func delete(_ ids: ArraySlice<ObjectID>) throws(StoreError) {
        if ids.isEmpty { return }
        for id in ids {
            try transaction.delete(elements, id)
            connection.noteOwnChange(elements, id, .delete)
        }
        _ = try count(ids.count)
    }

    func move(from source: Int, to target: Int, _ query: ConnectionQuery) throws(StoreError) {
        let rows = connection.listRows(query)
        let id = id(at: source, rows)
        checkIndex(target, of: rows.count, whatItHas)
        if source == target { return }
        // The elements that will be its neighbours; the one at the target makes room.
        let before = position(rows, source < target ? target : target - 1)
        let after = position(rows, source < target ? target + 1 : target)
        try setPosition(id, place(before, after, try count(1)))
        connection.showListChange(query, rows, removing: [rows.entry(at: source).key], adding: [id])
    }

    func swap(_ first: Int, _ second: Int, _ query: ConnectionQuery) throws(StoreError) {
        let rows = connection.listRows(query)
        let (a, b) = (id(at: first, rows), id(at: second, rows))
        guard a != b, let atA = position(rows, first), let atB = position(rows, second) else { return }
        try setPosition(a, atB)
        try setPosition(b, atA)
        _ = try count(1)
        let keys = [rows.entry(at: first).key, rows.entry(at: second).key]
        connection.showListChange(query, rows, removing: keys, adding: [a, b])
    }

    private func setPosition(_ id: ObjectID, _ position: [UInt8]) throws(StoreError) {
        try update(id, ListTable.position) { row, column in position.withUnsafeBytes { row.setBytes(column, $0) } }
    }

    private func update(_ id: ObjectID, _ column: Int, _ value: (RowBuffer, Int) -> Void) throws(StoreError) {
        try transaction.update(elements, id, column) { value($0, column) }
        connection.noteOwnChange(elements, id, .update)
    }

    private func id(at index: Int, _ rows: RankedTree) -> ObjectID {
        checkIndex(index, of: rows.count, whatItHas)
        return ObjectID(rawValue: rows.id(at: index))
    }
}
