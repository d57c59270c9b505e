// Checks whether a schema has the form that this library writes, before it is stored and after it is read. Recovers the
// valid tables of one that does not. Pure.
import Foundation
import StillingWellBasis

extension StoreSchema {
    /// Upper bound of table numbers. No store has as many tables.
    private static let mostTables = UInt32.max / 2

    /// Decodes a stored schema and repairs its names.
    static func decode(_ data: Data) throws(JSONScanner.Problem) -> StoreSchema {
        // `withUnsafeBytes` of `Data` does not throw typed errors.
        try data.withUnsafeBytes { json in
            Result { () throws(JSONScanner.Problem) in try StoreSchema(json: json) }
        }.get().repaired
    }

    /// Whether all tables have a valid form, and unique names and numbers below that of the next new table.
    var isPossible: Bool { impossibleTables.isEmpty && nextTable ?? 0 < Self.mostTables }

    /// Tables with an invalid form, with a name or number that another table has too, or with a number not below that
    /// of the next new table.
    var impossibleTables: [TableSchema] {
        let numbers = Dictionary(tables.map { ($0.id, 1) }, uniquingKeysWith: +)
        let names = Dictionary(tables.map { ($0.name, 1) }, uniquingKeysWith: +)
        return tables.filter {
            !$0.isPossible || numbers[$0.id] != 1 || names[$0.name] != 1
                || $0.id >= nextTable ?? Self.mostTables
        }
    }

    /// The schema without its impossible tables, for recovery. Nil if there are no others, or `nextTable` is too large.
    var withoutImpossibleTables: StoreSchema? {
        var schema = self
        let lost = Set(impossibleTables.map(\.name))
        schema.tables.removeAll { lost.contains($0.name) }
        // New objects of a lost class would get the elements of old objects.
        let names = Set(schema.tables.map(\.name))
        schema.tables.removeAll { $0.isOfList && !names.contains($0.columns[ListTable.owner].target ?? "") }
        for table in schema.tables.indices {
            for column in schema.tables[table].columns.indices where schema.lacksElements(table, column) {
                // The slot of a list holds a number.
                schema.tables[table].columns[column].type = .int
                schema.tables[table].forget(column)
            }
        }
        return schema.tables.isEmpty || nextTable ?? 0 >= Self.mostTables ? nil : schema
    }

    private func lacksElements(_ table: Int, _ column: Int) -> Bool {
        let list = tables[table].columns[column]
        return list.type == .list && self.table(ListTable.name(tables[table].name, list.name)) == nil
    }

    /// The schema with repaired names. Earlier builds stored two kinds of names that they then refused. When a class was
    /// deleted, they hid the columns of list tables that referred to it. They also gave the table of a hidden list the name
    /// of another table.
    private var repaired: StoreSchema {
        var schema = self
        for (index, table) in tables.enumerated() where table.isOfList {
            if table.columns.count == ListTable.columnNames.count {
                for (column, name) in ListTable.columnNames.enumerated()
                where table.columns[column].isGone && table.columns[column].name.hasPrefix("\(name)#") {
                    schema.tables[index].columns[column].name = name
                    schema.tables[index].columns[column].isHidden = nil
                }
            }
            if table.name.hasSuffix("#\(table.id)"), tables.count(where: { $0.name == table.name }) > 1 {
                schema.tables[index].name += "#\(table.id)"
            }
        }
        return schema
    }
}

extension TableSchema {
    /// Whether it is the table of a list's elements. Its name has a dot, unlike those of classes.
    var isOfList: Bool { name.utf8.contains(UInt8(ascii: ".")) }

    fileprivate var isPossible: Bool {
        columns.count <= StoreSchema.maxColumns && primaryKey.map(columns.indices.contains) ?? true
            && !hasRepeatedName && (!isOfList || hasFormOfList)
    }

    /// Whether two columns that are not hidden have the same name.
    private var hasRepeatedName: Bool {
        columns.indices.contains { index in
            !columns[index].isGone && columns[..<index].contains { !$0.isGone && $0.name == columns[index].name }
        }
    }

    /// Whether the columns are those of a list's elements, which are known by their places.
    private var hasFormOfList: Bool {
        columns.map(\.name) == ListTable.columnNames && columns[ListTable.owner].type == .link
            && columns[ListTable.position].type == .data
    }

    /// Hides a column for good: no property has its new name.
    mutating func forget(_ column: Int) {
        columns[column].name += "#\(column)"
        columns[column].isHidden = true
    }
}
