// Programs that read reports like a user. Tests run them if they are installed.
import Foundation

enum Interpreter {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static let browser = found(["chromium", "chromium-browser", "google-chrome"])
    static let python = found(["python3"])

    /// A Python with pandas and DuckDB: the one made by `Tools/setup.sh data`, or the machine's own.
    static let withTables: String? = {
        let own = "\(repository)/.build-data/bin/python3"
        return [own, python].compactMap { $0 }.first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (try? run(path, ["-c", "import pandas, duckdb"]).status) == 0
        }
    }()

    /// Returns the first of these programs on the PATH.
    private static func found(_ names: [String]) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.lazy.flatMap { name in folders.lazy.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program. Returns both outputs together and the exit code.
    static func run(_ program: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }
}
