// Runs the built binaries like a user, and returns their output and exit code.
import Foundation
import Testing

struct Ran {
    var pid: Int32
    var status: Int32
    var output: String
    var errors: String
}

enum Binary: String {
    case tidegauge
    case fixture = "tidegauge-fixture"
    case peers = "tidegauge-peers"

    /// Path of the binary, or its name alone if it was not found.
    private var url: URL {
        let products =
            Bundle.allBundles.map(\.bundleURL).map { $0.deletingLastPathComponent() }
            + [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
        let found = products.map { $0.appendingPathComponent(rawValue) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        return found ?? URL(fileURLWithPath: rawValue)
    }

    var path: String { url.path }

    /// Returns a process of the binary in `folder`, not started yet. `run` gets `--no-wait`, because other tests run at
    /// the same time. `compare` gets `--no-count`, unless it has an option for counting or `--resume`, because counting
    /// under valgrind takes most of its time.
    func process(_ arguments: [String], in folder: Folder) -> Process {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        if arguments.first == "run" { process.arguments! += ["--no-wait"] }
        let isCounted = arguments.contains { $0.hasPrefix("--count") || $0 == "--no-count" }
        if arguments.first == "compare", !isCounted, !arguments.contains("--resume") {
            process.arguments! += ["--no-count"]
        }
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Starts the binary in `folder`. Its output goes to files there, so that it cannot block on a full pipe.
    /// - Parameter whenEnded: called on any thread when the process has ended.
    func start(
        _ arguments: [String], in folder: Folder, whenEnded: (@Sendable (Process) -> Void)? = nil
    ) throws -> Process {
        let process = process(arguments, in: folder)
        process.terminationHandler = whenEnded
        process.standardOutput = try folder.handle("stdout")
        process.standardError = try folder.handle("stderr")
        try process.run()
        return process
    }

    /// Starts the binary, interrupts it with SIGINT as soon as `isTime` returns true, and waits for its end.
    func interrupt(_ arguments: [String], in folder: Folder, when isTime: () throws -> Bool) throws -> Ran {
        let watch = try FolderWatch(folder.path)
        let process = try start(arguments, in: folder) { _ in watch.end() }
        while try !isTime(), try watch.wait() {}
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        return folder.ran(process)
    }

    func run(_ arguments: [String], in folder: Folder) throws -> Ran {
        let process = try start(arguments, in: folder)
        process.waitUntilExit()
        return folder.ran(process)
    }
}

/// A scratch folder that is removed when this object is released.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "tidegauge-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: some DataProtocol) throws {
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text).write(to: url)
    }

    func read(_ name: String) -> String { (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)) ?? "" }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

    func handle(_ name: String) throws -> FileHandle {
        try write(name, Data())
        return try #require(FileHandle(forWritingAtPath: "\(path)/\(name)"))
    }

    func ran(_ process: Process) -> Ran {
        Ran(
            pid: process.processIdentifier, status: process.terminationStatus, output: read("stdout"),
            errors: read("stderr"))
    }

    /// Rows of Reports/latest/metrics.csv by column. The fields of these tests contain no quotes.
    func metrics() -> [[String: String]] {
        let lines = read("Reports/latest/metrics.csv").split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let header = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
    }
}

extension Folder {
    /// Returns the journal's record of the last trial.
    func trial() throws -> [String: Any] {
        let lines = read("Reports/latest/journal.ndjson").split(separator: "\n")
        let events = lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        return try #require(events.compactMap { $0["trial"] as? [String: Any] }.last)
    }

    /// Returns rows of metrics.csv by `metric.statistic`: of equal names the last one.
    func figures() -> [String: [String: String]] {
        Dictionary(metrics().map { ("\($0["metric"]!).\($0["statistic"]!)", $0) }, uniquingKeysWith: { $1 })
    }
}
