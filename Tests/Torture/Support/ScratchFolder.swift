// A folder for the store of a run. Only this user can enter it, and its name is random, because /tmp and /dev/shm are
// shared.
import Foundation
import Glibc

public enum ScratchFolder {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes a folder, runs `body`, and removes the folder.
    public static func with<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = try make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder)
    }

    /// Makes a folder, which the caller removes.
    /// - Throws: `Failure`.
    public static func make(inMemory: Bool = false) throws -> String {
        let place = inMemory ? "/dev/shm/" : NSTemporaryDirectory()
        var template = Array("\(place)stillingwell-torture-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let remedy = inMemory ? "give --durability relaxed" : "let TMPDIR name a folder that you may write to"
            throw Failure(
                description: "\(place): cannot make a folder in it: \(String(cString: strerror(errno))); \(remedy)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
