// A row in a migration block: properties by name, links and lists as row references.
import StillingWellBasis

/// A reference to a row, for links, lists and deletion. Usable inside the migration block only.
public struct MigrationReference: Hashable, Sendable {
    /// Table of the row.
    public let table: String
    let id: UInt64
}

/// A row during a migration, with properties by name. Usable inside the block it was passed to, or, if
/// `Migration.read(_:)` has returned it, inside the migration block. A wrong name or value makes the migration fail.
public final class MigrationRow {
    private let table: TableSchema
    private let id: UInt64
    private let rows: MigrationRows
    /// Whether this is the row before the migration, which cannot be set.
    private let isOld: Bool
    let buffer: RowBuffer

    init(_ table: TableSchema, _ id: UInt64, _ buffer: RowBuffer, _ rows: MigrationRows, isOld: Bool) {
        self.table = table
        self.id = id
        self.buffer = buffer
        self.rows = rows
        self.isOld = isOld
    }

    /// Reference to this row, for links, lists and deletion.
    public var reference: MigrationReference { MigrationReference(table: table.name, id: id) }

    /// The value of a property, or nil if it is null or the name is wrong. A mapped type is given as its stored value.
    /// A wrong name or type makes the migration fail.
    public subscript(property: String) -> (any StorableValue)? {
        get { value(property).map { buffer.reader.value($0, table.columns[$0]).plain } ?? nil }
        set {
            guard let column = value(property), mayBeSet(property) else { return }
            set(buffer, column, newValue, table.columns[column])
        }
    }

    /// The row that a link leads to. nil if the link is null, if the name is wrong or, in the new row, if its target
    /// was deleted by the block.
    public subscript(link property: String) -> MigrationReference? {
        get {
            guard let column = column(property, .link), !buffer.reader.isNull(column) else { return nil }
            return reference(to: table.columns[column], buffer.reader.slot(column))
        }
        set {
            guard let column = column(property, .link), mayBeSet(property) else { return }
            guard let newValue else { return buffer.setNull(column) }
            if fits(newValue, table.columns[column]) { buffer.setSlot(column, newValue.id) }
        }
    }

    /// The rows in a list of links, in order; in the new row without those that the block has deleted. The first access
    /// to a property's list loads all lists of that property into memory.
    public subscript(links property: String) -> [MigrationReference] {
        get {
            guard let list = list(property, isOfLinks: true) else { return [] }
            return elements(list).compactMap { value in
                guard case .link(let id) = value else { return nil }
                return reference(to: list.columns[ListTable.value], id.rawValue)
            }
        }
        set {
            guard let list = list(property, isOfLinks: true), mayBeSet(property) else { return }
            let element = list.columns[ListTable.value]
            guard newValue.allSatisfy({ fits($0, element) }) else { return }
            setList(property, list, newValue.map { value in { $0.setSlot(ListTable.value, value.id) } })
        }
    }

    /// The elements of a list of values, in order; nil for null. Memory as for lists of links.
    public subscript(values property: String) -> [(any StorableValue)?] {
        get { list(property, isOfLinks: false).map { elements($0).map(\.plain) } ?? [] }
        set {
            guard let list = list(property, isOfLinks: false), mayBeSet(property) else { return }
            let element = list.columns[ListTable.value]
            setList(property, list, newValue.map { value in { self.set($0, ListTable.value, value, element) } })
        }
    }

    // MARK: Columns

    private func value(_ name: String) -> Int? {
        guard let column = column(name) else { return nil }
        switch table.columns[column].type {
        case .link: fail("\(place(column)) leads to other rows: use [link: \"\(name)\"]")
        case .list: fail("\(place(column)) is a list: use [values: \"\(name)\"] or, of links, [links: \"\(name)\"]")
        case .int, .double, .bool, .string, .date, .data, .uuid: return column
        }
        return nil
    }

    private func column(_ name: String, _ type: ColumnType) -> Int? {
        guard let column = column(name) else { return nil }
        if table.columns[column].type == type { return column }
        fail("\(place(column)) is no \(type.rawValue)")
        return nil
    }

    private func column(_ name: String) -> Int? {
        // Checked here, because large values are read from the store, which may be closed.
        stopUnless(
            !rows.isOver, "a row of a migration that has ended was asked for '\(name)'; use it inside the block")
        if let column = table.columns.firstIndex(where: { $0.name == name && !$0.isGone }) { return column }
        let names = table.visibleNames.sorted().map { "'\($0)'" }.joined(separator: ", ")
        fail("'\(table.name)' has no property '\(name)' \(isOld ? "in the file" : "now"); it has \(names)")
        return nil
    }

    private func mayBeSet(_ property: String) -> Bool {
        if !isOld { return true }
        fail("'\(table.name).\(property)' of the old row was set; set the new one")
        return false
    }

    private func set(_ row: RowBuffer, _ column: Int, _ value: (any StorableValue)?, _ schema: ColumnSchema) {
        let place = "\(schema.described) of '\(table.name)'"
        guard let value = value.flatMap({ $0._columnValue == .null ? nil : $0 }) else {
            guard schema.isOptional else { return fail("\(place) was set to nil; give it a value") }
            return row.setNull(column, isOutOfLine: schema.type.isOutOfLine)
        }
        guard type(of: value)._columnType == schema.type else {
            return fail("\(place) was set to a value of type \(type(of: value)); convert it")
        }
        value._write(row, column)
    }

    // MARK: Links and lists

    private func reference(to column: ColumnSchema, _ id: UInt64) -> MigrationReference? {
        guard let target = column.target, isOld || !rows.isDeleted(target, id) else { return nil }
        return MigrationReference(table: target, id: id)
    }

    private func fits(_ row: MigrationReference, _ column: ColumnSchema) -> Bool {
        if row.table != column.target {
            fail(
                "\(column.described) of '\(table.name)' was led to a row of '\(row.table)'; give it one of its own table"
            )
        } else if rows.isDeleted(row.table, row.id) {
            fail("\(column.described) of '\(table.name)' was led to a row that the block has deleted")
        } else {
            return true
        }
        return false
    }

    private func list(_ property: String, isOfLinks: Bool) -> TableSchema? {
        guard let column = column(property, .list) else { return nil }
        let schema = isOld ? rows.change.old : rows.change.schema
        guard let list = schema.table(ListTable.name(table.name, property)) else { return nil }
        if (list.columns[ListTable.value].type == .link) == isOfLinks { return list }
        fail("\(place(column)) is a list of \(isOfLinks ? "values: use [values:]" : "links: use [links:]")")
        return nil
    }

    private func elements(_ list: TableSchema) -> [ColumnValue] {
        do throws(StoreError) {
            return try rows.elements(of: id, in: list, isOld: isOld)
        } catch {
            rows.fail(error)
            return []
        }
    }

    private func setList(_ property: String, _ list: TableSchema, _ values: [(RowBuffer) -> Void]) {
        guard let column = column(property, .list) else { return }
        // One change for the removal of all elements, and one for each inserted element.
        let last = buffer.reader.slot(column) &+ UInt64(values.count) &+ 1
        buffer.setSlot(column, last)
        do throws(StoreError) {
            try rows.setList(of: id, in: list, values, change: last)
        } catch {
            rows.fail(error)
        }
    }

    private func place(_ column: Int) -> String { "\(table.columns[column].described) of '\(table.name)'" }

    private func fail(_ reason: String) { rows.fail(.migrationMisuse(reason: reason)) }
}
