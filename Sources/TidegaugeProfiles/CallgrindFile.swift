// Files of `valgrind --tool=callgrind` ("Callgrind Format Specification", valgrind 3.19). What is kept is which
// function executed how many instructions and whom it called; lines of sources and jumps are read past.
import Foundation

public enum CallgrindFile {
    /// The parts of a file, in its order: one, unless it was written with `--combine-dumps=yes`.
    /// - Throws: `CallgrindError` where the file cannot be read, is no such profile or is damaged.
    public static func read(_ path: String) throws -> [CallgrindPart] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CallgrindError(path: path, message: "cannot be read: \(error.localizedDescription)")
        }
        return try parts([UInt8](data), path: path)
    }

    /// The same of a file's bytes. O(n).
    /// - Parameter path: for errors.
    /// - Throws: `CallgrindError`, also where costs do not add up to the total that the file states.
    public static func parts(_ bytes: [UInt8], path: String) throws(CallgrindError) -> [CallgrindPart] {
        var parser = CallgrindParser(bytes, path: path)
        return try parser.parts()
    }
}
