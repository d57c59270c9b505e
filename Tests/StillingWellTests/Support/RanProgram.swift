// A program of the package that has run to its end.
import Foundation
import Testing

struct RanProgram {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the program with empty input.
    init(_ name: String, _ arguments: [String]) throws {
        let folder = NSTemporaryDirectory() + "\(name)-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL = try FixtureProcess.binary(name)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // Files, so that the program cannot block on a full pipe.
        for name in ["out", "err"] { FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }
        process.standardOutput = try #require(FileHandle(forWritingAtPath: folder + "/out"))
        process.standardError = try #require(FileHandle(forWritingAtPath: folder + "/err"))
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        output = try String(contentsOfFile: folder + "/out", encoding: .utf8)
        errors = try String(contentsOfFile: folder + "/err", encoding: .utf8)
    }
}
