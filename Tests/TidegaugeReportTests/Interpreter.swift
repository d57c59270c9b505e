// Programs that read reports as a reader would, run by tests where they are there.
import Foundation

enum Interpreter {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static let browser = found(["chromium", "chromium-browser", "google-chrome"])
    static let python = found(["python3"])

    /// A Python that has pandas and DuckDB: what `Tools/setup.sh data` made, or the machine's own.
    static let withTables: String? = {
        let own = "\(repository)/.build-data/bin/python3"
        return [own, python].compactMap { $0 }.first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (try? run(path, ["-c", "import pandas, duckdb"]).status) == 0
        }
    }()

    /// The first of these programs on the PATH.
    private static func found(_ names: [String]) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.lazy.flatMap { name in folders.lazy.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Both outputs together, and how it ended.
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
