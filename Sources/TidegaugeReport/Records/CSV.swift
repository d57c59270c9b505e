// RFC 4180 with `\n` as line end, as is usual on Linux. Pure.

enum CSV {
    /// Returns a line with its line end. Fields are quoted where necessary, with quotes doubled.
    static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") + "\n" }

    static func quoted(_ field: String) -> String {
        let needsQuotes = field.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }
        return needsQuotes ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
    }

    /// Parses the records of `text`. An incomplete last line, as left by a killed run, is ignored.
    static func records(_ text: String) -> [[String]] {
        var records: [[String]] = []
        var record: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var bytes = text.utf8.makeIterator()
        var pending = bytes.next()
        func take() {
            record.append(String(decoding: field, as: UTF8.self))
            field.removeAll(keepingCapacity: true)
        }
        while let byte = pending {
            pending = bytes.next()
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && pending == UInt8(ascii: "\""):
                field.append(byte)
                pending = bytes.next()
            case UInt8(ascii: "\"") where isQuoted || field.isEmpty: isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: take()
            case 10 where !isQuoted:
                take()
                records.append(record)
                record = []
            default: field.append(byte)
            }
        }
        return records
    }
}
