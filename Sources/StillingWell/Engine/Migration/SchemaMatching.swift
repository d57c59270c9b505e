// Brings a stored table and a model class together, column by column and by name. Stored columns stay where they are:
// what is new is added behind them, and what the class does not have is hidden. Pure.

/// One way in which a class differs from its stored table.
struct SchemaDifference: Equatable {
    /// What it takes to open the file all the same.
    enum Need: Comparable { case nothing, version, block }

    let need: Need
    let text: String
}

extension TableSchema {
    /// The table of a class that is not stored yet.
    init(id: UInt32, _ model: ModelDeclaration) {
        self.init(id: id, name: model.name, columns: model.columns, primaryKey: model.primaryKey)
    }

    /// The table as `model` needs it, and what that changes.
    func matched(with model: ModelDeclaration) -> (table: TableSchema, differences: [SchemaDifference]) {
        var table = self
        var differences: [SchemaDifference] = []
        for declared in model.columns {
            guard let index = columns.firstIndex(where: { $0.name == declared.name }) else {
                table.columns.append(declared)
                continue
            }
            let stored = columns[index]
            if stored.type != declared.type || stored.target != declared.target {
                // The values stay readable to a migration block; the name goes to the new column.
                table.forget(index)
                table.columns.append(declared)
            } else {
                table.columns[index] = declared
                // An index stays: a program that does not ask for it keeps it true all the same.
                table.columns[index].isIndexed = declared.isIndexed || stored.isIndexed
            }
            if let need = stored.need(toBecome: declared) {
                let text = "the file has \(stored.described) where the model declares \(declared.described)"
                differences.append(SchemaDifference(need: need, text: text))
            }
        }
        let names = Set(model.columns.map(\.name))
        for index in columns.indices where !columns[index].isGone && !names.contains(columns[index].name) {
            table.columns[index].isHidden = true
            differences.append(
                SchemaDifference(
                    need: .version, text: "the model lacks \(columns[index].described), which the file has"))
        }
        let oldKey = primaryKey.map { columns[$0].name }
        let newKey = model.primaryKey.map { model.columns[$0].name }
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
    var described: String {
        let target = target.map { " to \($0)" } ?? ""
        return "'\(name)' (\(isOptional && type != .link ? "optional " : "")\(type.rawValue)\(target))"
    }

    /// What it takes to change the column's type; nil when it need not change, or nobody has it.
    fileprivate func need(toBecome declared: ColumnSchema) -> SchemaDifference.Need? {
        let isSameType = type == declared.type && target == declared.target
        if isGone || isSameType && isOptional == declared.isOptional { return nil }
        return isSameType && !isOptional ? .version : .block
    }
}
