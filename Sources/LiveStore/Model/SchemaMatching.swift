// Brings a stored table and a model class together, column by column and by name. Stored columns stay where they are:
// what is new is added behind them, and what the class does not have is hidden. Pure.

/// One way in which a class differs from its stored table.
struct SchemaDifference: Equatable {
    /// What it takes to open the file all the same.
    enum Need: Int, Comparable {
        case nothing, version, block

        static func < (left: Need, right: Need) -> Bool { left.rawValue < right.rawValue }
    }

    let need: Need
    let text: String
}

extension TableSchema {
    /// The table of a class that is not stored yet.
    init(id: UInt32, _ layout: ModelLayout) {
        self.init(
            id: id, name: layout.typeName, columns: layout.properties.map { ColumnSchema($0) },
            primaryKey: layout.primaryKey)
    }

    /// The table as `layout`'s class needs it, and what that changes.
    func matched(with layout: ModelLayout) -> (table: TableSchema, differences: [SchemaDifference]) {
        var table = self
        var differences: [SchemaDifference] = []
        for property in layout.properties {
            let declared = ColumnSchema(property)
            guard let index = columns.firstIndex(where: { $0.name == declared.name }) else {
                table.columns.append(declared)
                continue
            }
            let stored = columns[index]
            if stored.type != declared.type {
                // The values stay readable to a migration block; the name goes to the new column.
                table.columns[index].name = "\(stored.name)#\(index)"
                table.columns[index].isHidden = true
                table.columns.append(declared)
            } else {
                table.columns[index] = declared
            }
            if let need = stored.need(toBecome: declared) {
                let text = "the file has \(stored.described) where the model declares \(declared.described)"
                differences.append(SchemaDifference(need: need, text: text))
            }
        }
        let names = Set(layout.properties.map(\.name))
        for index in columns.indices where !columns[index].isGone && !names.contains(columns[index].name) {
            table.columns[index].isHidden = true
            differences.append(
                SchemaDifference(
                    need: .version, text: "the model lacks \(columns[index].described), which the file has"))
        }
        let oldKey = primaryKey.map { columns[$0].name }
        let newKey = layout.primaryKey.map { layout.properties[$0].name }
        table.primaryKey = newKey.flatMap { key in table.columns.firstIndex { $0.name == key } }
        if oldKey != newKey {
            let (old, new) = (oldKey.map { "'\($0)'" } ?? "none", newKey.map { "'\($0)'" } ?? "none")
            differences.append(
                SchemaDifference(need: .block, text: "the primary key is \(old) in the file and \(new) in the model"))
        }
        return (table, differences)
    }
}

extension ColumnSchema {
    init(_ property: ModelLayout.Property) {
        self.init(name: property.name, type: property.type, isOptional: property.isOptional)
    }

    var isGone: Bool { isHidden == true }

    var described: String { "'\(name)' (\(isOptional ? "optional " : "")\(type.rawValue))" }

    /// What it takes to change the column's type; nil when it need not change, or nobody has it.
    fileprivate func need(toBecome declared: ColumnSchema) -> SchemaDifference.Need? {
        if isGone || self == declared { return nil }
        return type == declared.type && !isOptional ? .version : .block
    }
}
