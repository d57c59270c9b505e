// Runs a program to its end and collects its output.
import Foundation

/// Output and exit of a program.
public struct CompletedProcess: Sendable {
    public var output = Data()
    public var errors = Data()
    public var exit: Subprocess.Exit
    /// Number of bytes beyond the limit of either stream, which were dropped.
    public var droppedBytes = 0
    /// Whether it was killed after its time limit.
    public var hasTimedOut = false

    public var isSuccess: Bool { exit.isSuccess && !hasTimedOut }
}

extension Subprocess {
    /// Returns the path of a program on the PATH, or nil.
    public static func find(_ program: String) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs the program at `path` and waits for its end. Any thread.
    /// - Parameters:
    ///   - timeoutNs: time limit, after which it is killed with its process group.
    ///   - mostBytes: number of bytes kept of either stream. More is read, counted and dropped.
    /// - Throws: `CannotStart`.
    public static func run(
        _ path: String, _ arguments: [String] = [], in folder: String? = nil, environment: [String: String] = [:],
        input: String = "", output: Output = .piped, errors: Output = .piped, timeoutNs: Int64? = nil,
        mostBytes: Int = 1 << 26
    ) throws -> CompletedProcess {
        let deadlineNs = timeoutNs.map { MonotonicClock.nowNs() + $0 } ?? .max
        let process = try Subprocess(
            path, arguments, in: folder, environment: environment, input: Data(input.utf8), output: output,
            errors: errors)
        var ran = CompletedProcess(exit: .status(0))
        while process.exit == nil {
            if !ran.hasTimedOut, MonotonicClock.nowNs() >= deadlineNs {
                process.signal(SIGKILL)
                ran.hasTimedOut = true
            }
            process.advance(untilNs: ran.hasTimedOut ? .max : deadlineNs) { stream, bytes in
                let place: WritableKeyPath<CompletedProcess, Data> = stream == .output ? \.output : \.errors
                let kept = min(bytes.count, max(0, mostBytes - ran[keyPath: place].count))
                ran[keyPath: place].append(contentsOf: bytes.prefix(kept))
                ran.droppedBytes += bytes.count - kept
            }
        }
        ran.exit = process.exit!
        return ran
    }
}
