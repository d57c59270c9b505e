// Runs Python programs with the libraries of the machine.
import Foundation

enum Python {
    /// Name of the interpreter. `TIDEGAUGE_PYTHON` can name another one, such as that of a virtual environment.
    private static let name = ProcessInfo.processInfo.environment["TIDEGAUGE_PYTHON"] ?? "python3"

    /// Whether the interpreter and these modules are available.
    static func has(_ modules: String...) -> Bool {
        (try? run(["-c", "import \(modules.joined(separator: ", "))"]).status) == 0
    }

    /// Runs the interpreter. Returns both outputs together and the exit code.
    static func run(_ arguments: [String], in folder: String = ".") throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }
}

/// The root of the repository.
let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
