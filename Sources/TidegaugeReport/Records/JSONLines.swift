// Journals and histories: a JSON object per line, appended as things happen. A killed program leaves half a line at the end,
// which is none.
import Foundation

enum JSONLines {
    /// The whole lines of a file, in order.
    /// - Parameters:
    ///   - what: the file is: "a journal".
    ///   - hint: what to do where there is none.
    /// - Throws: `DamagedReport`, with the line that is none of such a file.
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

    /// One line, its end included; the same for the same value.
    static func text(_ line: some Encodable) throws -> String { try JSONFile.text(line) + "\n" }
}

enum JSONFile {
    /// Keys sorted, so that it is the same for the same value.
    static func text(_ value: some Encodable, isPretty: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
