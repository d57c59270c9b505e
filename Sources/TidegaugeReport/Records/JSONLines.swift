// Reads and writes files with a JSON object per line, to which lines are appended. An incomplete last line, as left
// by a killed program, is ignored.
import Foundation

enum JSONLines {
    /// Reads the complete lines of a file, in order.
    /// - Parameters:
    ///   - what: kind of file, such as "a journal".
    ///   - hint: remedy if the file is missing.
    /// - Throws: `DamagedReport` if the file is missing or has no complete line, or if a complete line is invalid.
    static func read<Line: Decodable>(_ path: String, _ what: String, hint: String) throws(DamagedReport) -> [Line] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw DamagedReport("\(path): there is no such file; \(hint)")
        }
        guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else {
            throw DamagedReport("\(path): it holds no whole line of \(what)")
        }
        var lines: [Line] = []
        for (number, text) in data[...end].split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)) else {
                throw DamagedReport("\(path):\(number + 1): this is no line of \(what) of this version")
            }
            lines.append(line)
        }
        return lines
    }

    /// Returns one line with its line end. Deterministic.
    static func text(_ line: some Encodable) throws -> String { try JSONFile.text(line) + "\n" }
}

extension KeyedDecodingContainer {
    /// The key of an object that must have exactly one known key.
    /// - Throws: `DecodingError` if it has none or several.
    func onlyKey() throws -> Key {
        guard allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "\(allKeys.count) known keys where there must be one"))
        }
        return allKeys[0]
    }
}

enum JSONFile {
    /// Encodes a value with sorted keys, so that the text is deterministic.
    static func text(_ value: some Encodable, isPretty: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
