// Matches the columns of a stored table and a model class by name. Stored columns keep their places. New ones are added
// behind them, and columns that the class lacks are hidden. Pure.

/// A difference between a class and its stored table.
struct SchemaDifference: Equatable {
    /// Requirement for opening the file in spite of the difference.
    enum Need: Comparable { case nothing, version, block }

    let need: Need
    let text: String
}

extension TableSchema {
    /// Table of a class that is not stored yet.
    init(id: UInt32, _ model: ModelDeclaration) {
        self.init(id: id, name: model.name, columns: model.columns, primaryKey: model.primaryKey)
    }

    /// The table as `model` needs it, and the differences.
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
                // The values stay readable to a migration block. The name goes to the new column.
                table.forget(index)
                table.columns.append(declared)
            } else {
                table.columns[index] = declared
                // An index is kept: programs that do not use it update it all the same.
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

    /// Requirement for changing the column's type, target or optionality. Nil if there is no change or the column is
    /// hidden.
    fileprivate func need(toBecome declared: ColumnSchema) -> SchemaDifference.Need? {
        let isSameType = type == declared.type && target == declared.target
        if isGone || isSameType && isOptional == declared.isOptional { return nil }
        return isSameType && !isOptional ? .version : .block
    }
}
