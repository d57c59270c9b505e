// Another process with the same store, and an observer of the commits of all processes.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSync
import Testing

/// A running program of the package, mostly stillingwell-fixture. Killed with its last reference.
final class FixtureProcess: @unchecked Sendable {
    struct Output: Sendable {
        var lines: [String] = []
        /// Whether all writing ends of the output are closed, so that `lines` is complete.
        var isOver = false
    }

    private let process = Process()
    private let input: FileHandle
    let output = Watched(Output())

    /// Starts the fixture on the store of `test`, and waits until it has opened the store. `go()` lets it continue.
    convenience init(_ test: TestStore, _ arguments: String...) throws {
        try self.init(path: test.path, test.store.configuration.durability, arguments)
        try waitUntilReady()
    }

    /// Starts the fixture on the store at `path`.
    convenience init(path: String, _ durability: Durability, _ arguments: [String]) throws {
        try self.init("stillingwell-fixture", [path, durability.rawValue] + arguments)
    }

    /// Starts a program of the package.
    init(_ program: String, _ arguments: [String]) throws {
        // Pipes that are closed on exec, so that no later process inherits their ends and keeps them open.
        let (childInput, input) = try Self.makePipe()
        let (output, childOutput) = try Self.makePipe()
        self.input = input
        process.executableURL = try Self.binary(program)
        process.arguments = arguments
        // Some programs trap. The backtrace of a large program, as with a sanitizer, takes minutes.
        var environment = ProcessInfo.processInfo.environment
        if environment["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
        process.environment = environment
        process.standardInput = childInput
        process.standardOutput = childOutput
        try process.run()
        try childInput.close()
        try childOutput.close()
        let lines = self.output
        // The thread ends with the process, and needs no join.
        Thread.detachNewThread { Self.read(output, into: lines) }
    }

    var pid: pid_t { process.processIdentifier }

    func waitUntilReady() throws {
        let output = try output.wait("the fixture to be ready") { !$0.lines.isEmpty || $0.isOver }
        try #require(output.lines.first == "ready", "the fixture could not open the store")
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Returns the path of a program beside the test bundle or this executable.
    static func binary(_ name: String) throws -> URL {
        let folders =
            Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
            + [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
        let candidates = folders.map { $0.appendingPathComponent(name) }
        let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        return try #require(found, "\(name) is not built; looked in \(folders.map(\.path))")
    }

    private static func makePipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (
            FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }

    private static func read(_ handle: FileHandle, into output: Watched<Output>) {
        var rest: [UInt8] = []
        while case let data = handle.availableData, !data.isEmpty {
            rest += data
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.removeLast())
            output.update { $0.lines += lines.map { String(decoding: $0, as: UTF8.self) } }
        }
        output.update { $0.isOver = true }
    }

    func go() throws { try type("go") }

    /// Writes a line to the standard input.
    func type(_ line: String) throws { try input.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Lines after `ready`.
    var lines: [String] { Array(output.value.lines.dropFirst()) }

    /// Waits until the process has printed `count` lines after `ready`.
    @discardableResult
    func waitForLines(_ count: Int) throws -> [String] {
        let output = try output.wait("\(count) lines of the fixture") { $0.lines.count > count || $0.isOver }
        try #require(output.lines.count > count, "the fixture ended early")
        return Array(output.lines.dropFirst())
    }

    func waitForEnd() throws { try output.wait("the fixture to end") { $0.isOver } }

    /// Kills the process with SIGKILL, and waits until its output ends.
    func killNow() throws {
        kill(process.processIdentifier, SIGKILL)
        try waitForEnd()
    }

    /// Waits until the process was reaped, which is later than the end of its output.
    func waitUntilReaped() { process.waitUntilExit() }

    /// Waits for the end. Returns the signal that ended the process, or nil if it exited.
    var endingSignal: Int32? {
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    }

    /// Stops the process, and waits until all its threads have stopped. The signal takes effect with a delay.
    func pause() throws {
        let pid = process.processIdentifier
        kill(pid, SIGSTOP)
        for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task") {
            let path = "/proc/\(pid)/task/\(thread)/stat"
            // The state follows the name, which is in brackets.
            while try String(contentsOfFile: path, encoding: .utf8).split(separator: ") ").last?.first != "T" {
                sched_yield()
            }
        }
    }

    func resume() { kill(process.processIdentifier, SIGCONT) }
}

/// Observes all `Half` rows on its own thread. Keeps the rows that result from the initial ones by change sets alone.
final class BatchObserver: @unchecked Sendable {
    struct Seen: Sendable {
        var version: UInt64 = 0
        /// The initial rows with all change sets applied.
        var keys: [Int]?
        var changes: [ChangeSet] = []
        var violations: [String] = []
    }

    let seen = Watched(Seen())
    private let thread = RunLoopThread("batch-observer")
    // Used on `thread` only.
    private var token: NotificationToken?

    init(_ store: Store) throws {
        try thread.performAndWait { [self] in
            let connection = try store.connect(on: .runLoop)
            token = try connection.objects(Half.self).sorted(by: \.key).observe { [seen] change in
                switch change {
                case .initial(let halves):
                    let keys = halves.map(\.key)
                    seen.update { $0.start(connection.version, keys) }
                case .update(let halves, let changes):
                    let inserted = changes.insertions.map { (key: halves[$0].key, amount: halves[$0].amount) }
                    let count = halves.count
                    seen.update { $0.apply(changes, inserted, count, connection.version) }
                case .error(let error): seen.update { $0.violations.append("\(error)") }
                }
            }
        }
        try seen.wait("the initial callback") { $0.keys != nil }
    }

    func stop() {
        try? thread.performAndWait { [self] in
            token?.invalidate()
            token = nil
        }
        thread.stop()
    }
}

extension BatchObserver.Seen {
    fileprivate mutating func start(_ version: UInt64, _ keys: [Int]) {
        if self.keys != nil { violations.append("version \(version): a second initial callback") }
        self.version = version
        self.keys = keys
    }

    /// Applies a change set. Of the new rows only the inserted ones are read, so that the observer keeps up.
    fileprivate mutating func apply(
        _ changes: ChangeSet, _ inserted: [(key: Int, amount: Int)], _ count: Int, _ version: UInt64
    ) {
        if version <= self.version { violations.append("version \(version) came after \(self.version)") }
        if 2 * inserted.reduce(0, { $0 + $1.amount }) != inserted.count * Batches.sum {
            violations.append("version \(version) shows a torn batch among \(inserted)")
        }
        for index in changes.deletions.reversed() { keys?.remove(at: index) }
        for (index, row) in zip(changes.insertions, inserted) { keys?.insert(row.key, at: index) }
        if keys?.count != count {
            violations.append("version \(version): \(count) rows, by change sets \(keys?.count ?? -1)")
        }
        self.changes.append(changes)
        self.version = version
    }
}
