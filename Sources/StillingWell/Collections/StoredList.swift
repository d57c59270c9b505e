// A list of a stored object, without the type of its elements: its rows and its changes. Indices are those of the shown
// rows. Another writer may have changed or deleted the rows since.
import StillingWellBasis

struct StoredList {
    let binding: RowBinding
    private let column: Int
    private let elements: Table
    let order: ListOrder

    /// - Parameter ordinal: position of the list property in its class.
    init(_ binding: RowBinding, _ ordinal: Int) {
        self.binding = binding
        column = binding.table.layout.column(ordinal)
        let list = binding.table.links!.list(column)!
        elements = binding.connection.core.storage.tablesByID[list.elements]!
        order = list.order
    }

    var connection: Connection { binding.connection }

    var source: ListSource { ListSource(elements: elements, owner: binding.id) }

    /// Id of the table of the elements.
    var table: UInt32 { elements.id }

    /// Name of the elements in messages about indices.
    var whatItHas: String { "elements of \(elements.schema.name)" }

    // MARK: Reading

    /// Returns the list as a query: the elements of this owner, by position.
    @inline(__always)
    func query(_ kept: ListQuery) -> ConnectionQuery {
        if let made = kept.made { return made }
        let query = makeQuery()
        kept.made = query
        return query
    }

    private func makeQuery() -> ConnectionQuery {
        let owner = FilterExpression.compare(column: ListTable.owner, .equal, .link(binding.id), isOptional: true)
        let plan = QueryPlan(
            table: elements, filter: owner, sort: [SortTerm(column: ListTable.position, ascending: true)])
        return connection.query(plan, elements)
    }

    func row(_ element: UInt64) -> RowReader? { connection.rowForGetter(elements, ObjectID(rawValue: element)) }

    /// Reports an element that is in the list's order but missing in the element table, although it was not removed.
    /// The file is damaged then.
    func noteLostElement() {
        connection.failReading(connection.core.storage.error(order.damaged(binding.id.rawValue), "read list"))
    }

    private func position(_ rows: ListRows, _ index: Int) -> [UInt8]? {
        guard rows.count > index, index >= 0 else { return nil }
        return rows.id(at: index).flatMap(row).map { Array($0.bytes(ListTable.position)) }
    }

    /// Returns the index of elements by linked object. nil if the shown elements are not current, or the object's class
    /// does not fit.
    func linkIndex(for object: RowBinding, _ rows: ListRows) -> ColumnIndex? {
        guard rows.areCurrent, let edge = binding.table.links?.edge(column), edge.target == object.table.id
        else { return nil }
        return edge.index
    }

    /// Returns the first index of an object. O(log n) for each element that links to it, in this property's lists of
    /// all objects.
    func place(of object: RowBinding, by index: ColumnIndex, _ rows: ListRows) throws(StoreError) -> Int? {
        var first: Int?
        for element in connection.currentSource?.ids(index, linkingTo: object.id) ?? [] {
            guard let row = connection.currentRow(elements, element), row.slot(ListTable.owner) == binding.id.rawValue,
                let rank = rows.rank(of: element, row)
            else { continue }
            first = min(first ?? rank, rank)
        }
        try connection.checkReads()
        return first
    }

    // MARK: Changing

    /// Runs a change. An error makes the write fail.
    func change(_ body: () throws -> Void) {
        connection.checkScheduler()
        do { try body() } catch { connection.failWrite(error) }
    }

    private var transaction: WriteTransaction {
        guard let transaction = connection.transaction else { stopProgram("\(StoreError.notInWrite)") }
        return transaction
    }

    /// Adds to the list's change counter, which is in its owner's row and notifies the owner's observers. Returns its
    /// new value.
    private func count(_ changes: Int) throws(StoreError) -> UInt64 {
        let last = try transaction.countChanges(changes, binding.table, binding.id, column)
        connection.noteOwnChange(binding.table, binding.id, .update)
        return last
    }

    func append(_ values: [(RowBuffer, Int) -> Void]) throws(StoreError) {
        if values.isEmpty { return }
        var change = try count(values.count) - UInt64(values.count)
        for value in values {
            change += 1
            try insert(value, ListPosition.last(change))
        }
    }

    /// Replaces all elements in the newest version. With `.modified`, the longest equal prefix stays.
    func replace(with values: [(RowBuffer, Int) -> Void], _ policy: UpdatePolicy) throws(StoreError) {
        let ids = order.ids(of: binding.id, in: transaction)
        try transaction.checkReads()
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

    func insert(_ value: (RowBuffer, Int) -> Void, at index: Int, _ query: ListQuery) throws(StoreError) {
        let rows = ListRows(self, query)
        checkIndex(index, of: try length(of: rows, near: index) + 1, "places to insert at in \(elements.schema.name)")
        let before = position(rows, index - 1)
        let after = position(rows, index)
        try insert(value, place(before, after, try count(1)))
    }

    private func insert(_ value: (RowBuffer, Int) -> Void, _ position: [UInt8]) throws(StoreError) {
        let id = try transaction.insert(elements) { row in
            row.reset(columnCount: elements.schema.columns.count)
            row.setSlot(ListTable.owner, binding.id.rawValue)
            position.withUnsafeBytes { row.setBytes(ListTable.position, $0) }
            value(row, ListTable.value)
        }
        connection.noteOwnChange(elements, id, .insert)
    }

    /// Returns a position between two, either of which may be missing.
    private func place(_ before: [UInt8]?, _ after: [UInt8]?, _ change: UInt64) -> [UInt8] {
        guard let before else { return after == nil ? ListPosition.last(change) : ListPosition.first(change) }
        guard let after else { return ListPosition.last(change) }
        // Another writer may have moved one past the other. Then the position directly behind the first is used.
        guard before.lexicographicallyPrecedes(after) else { return ListPosition.behind(before, change) }
        return ListPosition.between(before, after, change)
    }

    func set(_ value: (RowBuffer, Int) -> Void, at index: Int, _ query: ListQuery) throws(StoreError) {
        try update(try id(at: index, ListRows(self, query)), ListTable.value, value)
        _ = try count(1)
    }

    func remove(at index: Int, _ query: ListQuery) throws(StoreError) { try remove(index..<index + 1, query) }

    /// Removes elements, even if another writer has already removed them: the shown rows still change.
    func remove(_ indices: Range<Int>, _ query: ListQuery) throws(StoreError) {
        if indices.isEmpty { return }
        let rows = ListRows(self, query)
        for index in [indices.lowerBound, indices.upperBound - 1] {
            checkIndex(index, of: try length(of: rows), whatItHas)
        }
        let ids = rows.ids(in: indices).map { ObjectID(rawValue: $0) }
        try connection.checkReads()
        try delete(ids[...])
    }

    private func delete(_ ids: ArraySlice<ObjectID>) throws(StoreError) {
        if ids.isEmpty { return }
        for id in ids {
            try transaction.delete(elements, id)
            connection.noteOwnChange(elements, id, .delete)
        }
        _ = try count(ids.count)
    }

    func move(from source: Int, to target: Int, _ query: ListQuery) throws(StoreError) {
        let rows = ListRows(self, query)
        let id = try id(at: source, rows)
        checkIndex(target, of: rows.count, whatItHas)
        if source == target { return }
        // The positions that will be adjacent; the element at the target moves aside.
        let before = position(rows, source < target ? target : target - 1)
        let after = position(rows, source < target ? target + 1 : target)
        try setPosition(id, place(before, after, try count(1)))
    }

    func swap(_ first: Int, _ second: Int, _ query: ListQuery) throws(StoreError) {
        let rows = ListRows(self, query)
        let (a, b) = (try id(at: first, rows), try id(at: second, rows))
        guard a != b, let atA = position(rows, first), let atB = position(rows, second) else { return }
        // Two elements may never have the same position, even temporarily.
        try setPosition(a, ListPosition.last(try count(1)))
        try setPosition(b, atA)
        try setPosition(a, atB)
    }

    private func setPosition(_ id: ObjectID, _ position: [UInt8]) throws(StoreError) {
        try update(id, ListTable.position) { row, column in position.withUnsafeBytes { row.setBytes(column, $0) } }
    }

    private func update(_ id: ObjectID, _ column: Int, _ value: (RowBuffer, Int) -> Void) throws(StoreError) {
        try transaction.update(elements, id, column) { value($0, column) }
        connection.noteOwnChange(elements, id, .update)
    }

    /// - Parameter index: index that is read next.
    private func length(of rows: ListRows, near index: Int = 0) throws(StoreError) -> Int {
        let count = rows.count(near: index)
        try connection.checkReads()
        return count
    }

    private func id(at index: Int, _ rows: ListRows) throws(StoreError) -> ObjectID {
        checkIndex(index, of: try length(of: rows, near: index), whatItHas)
        guard let id = rows.id(at: index) else {
            try connection.checkReads()
            throw .invalidatedObject(table: elements.schema.name)
        }
        return ObjectID(rawValue: id)
    }
}
