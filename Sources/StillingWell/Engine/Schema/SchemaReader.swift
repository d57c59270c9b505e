// Reads the stored schema. `JSONDecoder` took 19 M of the 44 M instructions of opening a store with 100 models
// (callgrind, commit 6c672d82). Accepts the JSON that `StoreSchema.write` makes, with further keys. Pure.
import StillingWellBasis

extension StoreSchema {
    /// Reads only the format, which a schema of a newer form has too.
    static func format(of json: UnsafeRawBufferPointer) throws(JSONScanner.Problem) -> Int {
        var scanner = JSONScanner(json)
        var format: Int?
        try scanner.map { scanner, key throws(JSONScanner.Problem) in
            if key == "format" { format = try scanner.small() } else { try scanner.skip() }
        }
        return try scanner.found(format, "a format")
    }

    init(json: UnsafeRawBufferPointer) throws(JSONScanner.Problem) {
        self.init()
        var scanner = JSONScanner(json)
        guard String(validating: json, as: UTF8.self) != nil else { throw scanner.problem("UTF-8") }
        var (format, tables): (Int?, [TableSchema]?)
        try scanner.map { scanner, key throws(JSONScanner.Problem) in
            switch key {
            case "format":
                try scanner.set(&format) { scanner throws(JSONScanner.Problem) in try scanner.small() }
            case "version":
                try scanner.set(&version) { scanner throws(JSONScanner.Problem) in try scanner.magnitude() }
            case "nextTable":
                try scanner.set(&nextTable) { scanner throws(JSONScanner.Problem) in try scanner.small() }
            case "tables":
                try scanner.set(&tables) { scanner throws(JSONScanner.Problem) in
                    try scanner.array { scanner throws(JSONScanner.Problem) in try scanner.table() }
                }
            default: try scanner.skip()
            }
        }
        try scanner.end()
        (self.format, self.tables) = (try scanner.found(format, "a format"), try scanner.found(tables, "tables"))
    }
}

extension JSONScanner {
    fileprivate func found<Value>(_ value: Value?, _ what: String) throws(Problem) -> Value {
        guard let value else { throw problem("\(what) before it") }
        return value
    }

    /// Reads the value of a key, or `null` as nil. Throws if the key was read before with a value.
    fileprivate mutating func set<Value>(
        _ known: inout Value?, _ body: (inout JSONScanner) throws(Problem) -> Value
    ) throws(Problem) {
        if known != nil { throw problem("no key twice") }
        if try null() { return }
        known = try body(&self)
    }

    /// Reads a number without a sign that fits into `Number`.
    fileprivate mutating func small<Number: FixedWidthInteger>() throws(Problem) -> Number {
        guard let number = Number(exactly: try magnitude()) else {
            throw problem("a number of at most \(Number.bitWidth) bits")
        }
        return number
    }

    fileprivate mutating func array<Value>(
        _ body: (inout JSONScanner) throws(Problem) -> Value
    ) throws(Problem) -> [Value] {
        var values: [Value] = []
        try list { scanner throws(Problem) in values.append(try body(&scanner)) }
        return values
    }

    fileprivate mutating func table() throws(Problem) -> TableSchema {
        var (id, name, columns, primaryKey): (UInt32?, String?, [ColumnSchema]?, Int?)
        try map { scanner, key throws(Problem) in
            switch key {
            case "id": try scanner.set(&id) { scanner throws(Problem) in try scanner.small() }
            case "name": try scanner.set(&name) { scanner throws(Problem) in try scanner.text() }
            case "columns":
                try scanner.set(&columns) { scanner throws(Problem) in
                    try scanner.array { scanner throws(Problem) in try scanner.column() }
                }
            case "primaryKey": try scanner.set(&primaryKey) { scanner throws(Problem) in try scanner.small() }
            default: try scanner.skip()
            }
        }
        return TableSchema(
            id: try found(id, "an id"), name: try found(name, "a name"), columns: try found(columns, "columns"),
            primaryKey: primaryKey)
    }

    private mutating func column() throws(Problem) -> ColumnSchema {
        var (name, target, type): (String?, String?, ColumnType?)
        var (isOptional, isHidden, isIndexed): (Bool?, Bool?, Bool?)
        try map { scanner, key throws(Problem) in
            switch key {
            case "name": try scanner.set(&name) { scanner throws(Problem) in try scanner.text() }
            case "type":
                try scanner.set(&type) { scanner throws(Problem) in
                    try scanner.found(ColumnType(rawValue: try scanner.text()), "a column type")
                }
            case "isOptional": try scanner.set(&isOptional) { scanner throws(Problem) in try scanner.flag() }
            case "isHidden": try scanner.set(&isHidden) { scanner throws(Problem) in try scanner.flag() }
            case "target": try scanner.set(&target) { scanner throws(Problem) in try scanner.text() }
            case "indexed": try scanner.set(&isIndexed) { scanner throws(Problem) in try scanner.flag() }
            default: try scanner.skip()
            }
        }
        var column = ColumnSchema(
            name: try found(name, "a name"), type: try found(type, "a type"),
            isOptional: try found(isOptional, "whether it is optional"), target: target,
            isIndexed: isIndexed ?? false)
        column.isHidden = isHidden
        return column
    }
}
