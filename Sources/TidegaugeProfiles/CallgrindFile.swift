// Reads files of `valgrind --tool=callgrind` ("Callgrind Format Specification", valgrind 3.19). Keeps instructions and
// calls per call chain and the number of system calls.
import Foundation

public enum CallgrindFile {
    /// Reads the parts of a file in order. There is one part unless the file was written with `--combine-dumps=yes`.
    /// - Throws: `CallgrindError` if the file cannot be read, is not a callgrind profile or is damaged.
    public static func read(_ path: String) throws -> [CallgrindPart] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CallgrindError(path: path, message: "cannot be read: \(error.localizedDescription)")
        }
        return try parts([UInt8](data), path: path)
    }

    /// Parses the bytes of a file.
    /// - Parameter path: path for error messages.
    /// - Throws: `CallgrindError`, also if costs do not add up to the stated total.
    public static func parts(_ bytes: [UInt8], path: String) throws(CallgrindError) -> [CallgrindPart] {
        var parser = CallgrindParser(bytes, path: path)
        return try parser.parts()
    }
}
