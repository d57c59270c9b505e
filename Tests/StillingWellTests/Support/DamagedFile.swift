// Changes to the bytes of a store's file without the store.
import Foundation
import Testing

enum DamagedFile {
    private static let pageBytes = 4_096

    /// Replaces `text` by another text of equal length everywhere behind the two meta pages.
    /// - Returns: number of replacements.
    @discardableResult
    static func replace(_ text: String, by other: String, in path: String) throws -> Int {
        try replace(Data(text.utf8), by: Data(other.utf8), in: path)
    }

    /// The same for bytes.
    @discardableResult
    static func replace(_ old: Data, by new: Data, in path: String) throws -> Int {
        try #require(old.count == new.count)
        let url = URL(fileURLWithPath: path + "/data.mdb")
        let data = try Data(contentsOf: url)
        let file = try FileHandle(forUpdating: url)
        defer { try? file.close() }
        var (start, count) = (2 * pageBytes, 0)
        while let found = data.range(of: old, in: start..<data.count) {
            try file.seek(toOffset: UInt64(found.lowerBound))
            try file.write(contentsOf: new)
            start = found.upperBound
            count += 1
        }
        try #require(count > 0, "no page holds \(String(decoding: old, as: UTF8.self).debugDescription)")
        return count
    }
}
