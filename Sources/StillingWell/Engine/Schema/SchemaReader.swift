// Reads the stored schema. With `JSONDecoder`, opening a store with 100 models takes 44 M instructions in place of 26 M
// (callgrind). Accepts the JSON that `StoreSchema.write` makes, with further keys. Pure.

/// A failure to read a stored schema.
struct SchemaSyntaxError: Error, Equatable, CustomStringConvertible {
    let expected: String
    /// Offset in bytes.
    let place: Int

    var description: String { "byte \(place): expected \(expected)" }
}

extension StoreSchema {
    /// Reads only the format, which a schema of a newer form has too.
    static func format(of json: UnsafeRawBufferPointer) throws(SchemaSyntaxError) -> Int {
        var reader = SchemaReader(json)
        var format: Int?
        try reader.object { (key, reader) throws(SchemaSyntaxError) in
            if reader.isKey(key, "format") { format = try reader.number() } else { try reader.skip() }
        }
        return try reader.found(format, "a format")
    }

    /// Reads a whole schema.
    init(json: UnsafeRawBufferPointer) throws(SchemaSyntaxError) {
        self.init()
        var reader = SchemaReader(json)
        guard String(validating: json, as: UTF8.self) != nil else { throw reader.expected("UTF-8") }
        var (format, tables): (Int?, [TableSchema]?)
        try reader.object { (key, reader) throws(SchemaSyntaxError) in
            if reader.isKey(key, "format") {
                try reader.set(&format) { (reader) throws(SchemaSyntaxError) in try reader.number() }
            } else if reader.isKey(key, "version") {
                try reader.set(&version) { (reader) throws(SchemaSyntaxError) in try reader.number() }
            } else if reader.isKey(key, "nextTable") {
                try reader.set(&nextTable) { (reader) throws(SchemaSyntaxError) in try reader.number() }
            } else if reader.isKey(key, "tables") {
                try reader.set(&tables) { (reader) throws(SchemaSyntaxError) in
                    try reader.array { (reader) throws(SchemaSyntaxError) in try reader.table() }
                }
            } else {
                try reader.skip()
            }
        }
        try reader.end()
        (self.format, self.tables) = (try reader.found(format, "a format"), try reader.found(tables, "tables"))
    }
}

/// A cursor in JSON text. Every read stays inside of the text.
private struct SchemaReader {
    /// Nesting of values with unknown keys.
    private static let mostDepth = 64

    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func expected(_ what: String) -> SchemaSyntaxError { SchemaSyntaxError(expected: what, place: place) }

    func found<Value>(_ value: Value?, _ what: String) throws(SchemaSyntaxError) -> Value {
        guard let value else { throw expected("\(what) before it") }
        return value
    }

    /// The next byte that is no white space, or 0 at the end.
    private mutating func next() -> UInt8 {
        while place < bytes.count {
            let byte = bytes[place]
            if byte != 0x20, byte != 0x0a, byte != 0x0d, byte != 0x09 { return byte }
            place += 1
        }
        return 0
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next() == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(SchemaSyntaxError) {
        if !take(character) { throw expected("'\(character)'") }
    }

    mutating func end() throws(SchemaSyntaxError) {
        if next() != 0 || place < bytes.count { throw expected("the end") }
    }

    // MARK: Values

    /// Reads an object. `body` gets the place of each key and has to read its value.
    mutating func object(
        _ body: (Range<Int>, inout SchemaReader) throws(SchemaSyntaxError) -> Void
    ) throws(SchemaSyntaxError) {
        try expect("{")
        if take("}") { return }
        repeat {
            let key = try stringRange()
            if hasEscapes(key) { throw expected("a key without escapes before it") }
            try expect(":")
            try body(key, &self)
        } while take(",")
        try expect("}")
    }

    mutating func array<Value>(
        _ body: (inout SchemaReader) throws(SchemaSyntaxError) -> Value
    ) throws(SchemaSyntaxError) -> [Value] {
        try expect("[")
        if take("]") { return [] }
        var values: [Value] = []
        repeat { values.append(try body(&self)) } while take(",")
        try expect("]")
        return values
    }

    /// Reads the value of a key, or `null` as nil.
    mutating func set<Value>(
        _ known: inout Value?, _ body: (inout SchemaReader) throws(SchemaSyntaxError) -> Value
    ) throws(SchemaSyntaxError) {
        if known != nil { throw expected("no key twice") }
        if next() == UInt8(ascii: "n") { return try word("null") }
        known = try body(&self)
    }

    /// Reads digits, which JSON allows to begin with 0 only if it is the only one.
    mutating func number<Number: FixedWidthInteger>() throws(SchemaSyntaxError) -> Number {
        let isZero = next() == UInt8(ascii: "0")
        var value: Number = 0
        let start = place
        while place < bytes.count, case let digit = bytes[place] &- UInt8(ascii: "0"), digit < 10 {
            let (product, isBeyond) = value.multipliedReportingOverflow(by: 10)
            let (sum, isSumBeyond) = product.addingReportingOverflow(Number(digit))
            if isBeyond || isSumBeyond || isZero && place > start { throw expected("a number that fits") }
            value = sum
            place += 1
        }
        if place == start { throw expected("digits") }
        return value
    }

    mutating func bool() throws(SchemaSyntaxError) -> Bool {
        let value = next() == UInt8(ascii: "t")
        try word(value ? "true" : "false")
        return value
    }

    private mutating func word(_ word: StaticString) throws(SchemaSyntaxError) {
        guard isAt(place, word) else { throw expected("\(word)") }
        place += word.utf8CodeUnitCount
    }

    private func isAt(_ start: Int, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard count <= bytes.count - start else { return false }
        for index in 0..<count where bytes[start + index] != word.utf8Start[index] { return false }
        return true
    }

    /// Whether a key is a word. A key with escapes is none.
    func isKey(_ key: Range<Int>, _ word: StaticString) -> Bool {
        key.count == word.utf8CodeUnitCount && isAt(key.lowerBound, word)
    }

    private func hasEscapes(_ range: Range<Int>) -> Bool {
        range.contains { bytes[$0] == UInt8(ascii: "\\") }
    }

    mutating func string() throws(SchemaSyntaxError) -> String {
        let range = try stringRange()
        let content = UnsafeRawBufferPointer(rebasing: bytes[range])
        if !hasEscapes(range) { return String(decoding: content, as: UTF8.self) }
        guard let text = unescaped(content) else {
            throw SchemaSyntaxError(expected: "known escapes", place: range.lowerBound)
        }
        return text
    }

    /// Reads a string without decoding it.
    private mutating func stringRange() throws(SchemaSyntaxError) -> Range<Int> {
        try expect("\"")
        let start = place
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                place += 1
                return start..<place - 1
            case UInt8(ascii: "\\"): place += 2
            case 0..<0x20: throw expected("no control character")
            default: place += 1
            }
        }
        place = bytes.count
        throw expected("'\"'")
    }

    /// Reads over a value of any form.
    mutating func skip(_ depth: Int = 0) throws(SchemaSyntaxError) {
        if depth > Self.mostDepth { throw expected("at most \(Self.mostDepth) levels") }
        switch next() {
        case UInt8(ascii: "{"):
            try object { (_, reader) throws(SchemaSyntaxError) in try reader.skip(depth + 1) }
        case UInt8(ascii: "["): _ = try array { (reader) throws(SchemaSyntaxError) in try reader.skip(depth + 1) }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "n"): try word("null")
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        default: _ = try number() as UInt64
        }
    }

    /// Replaces the escapes of a string. Returns nil if one is unknown.
    private func unescaped(_ content: UnsafeRawBufferPointer) -> String? {
        var (text, index) = ([UInt8](), 0)
        func unit(_ start: Int) -> UInt32? {
            guard start + 4 <= content.count else { return nil }
            var unit: UInt32 = 0
            for byte in content[start..<start + 4] {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
                unit = unit << 4 | UInt32(digit)
            }
            return unit
        }
        while index < content.count {
            let byte = content[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard index < content.count else { return nil }
            index += 1
            switch content[index - 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(content[index - 1])
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0c)
            case UInt8(ascii: "n"): text.append(0x0a)
            case UInt8(ascii: "r"): text.append(0x0d)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard var value = unit(index) else { return nil }
                index += 4
                if value & 0xfc00 == 0xd800 {
                    // The upper half of a scalar beyond 16 bits. The lower half has an escape of its own.
                    guard index + 2 <= content.count, content[index] == UInt8(ascii: "\\"),
                        content[index + 1] == UInt8(ascii: "u"), let low = unit(index + 2), low & 0xfc00 == 0xdc00
                    else { return nil }
                    value = 0x1_0000 + (value & 0x3ff) << 10 + low & 0x3ff
                    index += 6
                }
                guard let scalar = Unicode.Scalar(value) else { return nil }
                text += Array(UTF8.encode(scalar).unsafelyUnwrapped)
            default: return nil
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Tables

    mutating func table() throws(SchemaSyntaxError) -> TableSchema {
        var (id, name, columns, primaryKey): (UInt32?, String?, [ColumnSchema]?, Int?)
        try object { (key, reader) throws(SchemaSyntaxError) in
            if reader.isKey(key, "id") {
                try reader.set(&id) { (reader) throws(SchemaSyntaxError) in try reader.number() }
            } else if reader.isKey(key, "name") {
                try reader.set(&name) { (reader) throws(SchemaSyntaxError) in try reader.string() }
            } else if reader.isKey(key, "columns") {
                try reader.set(&columns) { (reader) throws(SchemaSyntaxError) in
                    try reader.array { (reader) throws(SchemaSyntaxError) in try reader.column() }
                }
            } else if reader.isKey(key, "primaryKey") {
                try reader.set(&primaryKey) { (reader) throws(SchemaSyntaxError) in try reader.number() }
            } else {
                try reader.skip()
            }
        }
        return TableSchema(
            id: try found(id, "an id"), name: try found(name, "a name"), columns: try found(columns, "columns"),
            primaryKey: primaryKey)
    }

    private mutating func column() throws(SchemaSyntaxError) -> ColumnSchema {
        var (name, target): (String?, String?)
        var (isOptional, isHidden, isIndexed): (Bool?, Bool?, Bool?)
        var type: ColumnType?
        try object { (key, reader) throws(SchemaSyntaxError) in
            if reader.isKey(key, "name") {
                try reader.set(&name) { (reader) throws(SchemaSyntaxError) in try reader.string() }
            } else if reader.isKey(key, "type") {
                try reader.set(&type) { (reader) throws(SchemaSyntaxError) in
                    try reader.found(ColumnType(rawValue: try reader.string()), "a column type")
                }
            } else if reader.isKey(key, "isOptional") {
                try reader.set(&isOptional) { (reader) throws(SchemaSyntaxError) in try reader.bool() }
            } else if reader.isKey(key, "isHidden") {
                try reader.set(&isHidden) { (reader) throws(SchemaSyntaxError) in try reader.bool() }
            } else if reader.isKey(key, "target") {
                try reader.set(&target) { (reader) throws(SchemaSyntaxError) in try reader.string() }
            } else if reader.isKey(key, "indexed") {
                try reader.set(&isIndexed) { (reader) throws(SchemaSyntaxError) in try reader.bool() }
            } else {
                try reader.skip()
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
