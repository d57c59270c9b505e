// Another program, run to its end with what it says collected. Both of its outputs are read at the same time: one that fills
// the pipe that nobody reads would wait for a reader for ever, and the reader of the other one for its end.
import Foundation

/// What a program said, and how it ended.
public struct OtherProgram: Sendable {
    public var output: Data
    public var errors: Data
    /// Of `exit`, or the number of the signal where `endedBySignal`.
    public var status: Int32
    public var endedBySignal: Bool

    public var succeeded: Bool { status == 0 && !endedBySignal }

    /// As long as a pipe takes it before anybody reads.
    private static let longestInput = 4_096

    /// Runs the program at `path` and waits for its end. Any thread.
    /// - Parameters:
    ///   - folder: It runs there; nil: where this process does.
    ///   - environment: On top of this process's own.
    ///   - input: On its standard input; a few words at most (4 KiB).
    /// - Throws: Foundation's error where it cannot be started.
    public static func run(
        _ path: String, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:],
        input: String = ""
    ) throws -> OtherProgram {
        precondition(input.utf8.count <= longestInput, "a program's input has to fit into a pipe")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        }
        let (stdin, output, errors) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, output, errors)
        // Before there is a reader who could go away.
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        try process.run()
        let said = drain([output, errors].map(\.fileHandleForReading.fileDescriptor))
        process.waitUntilExit()
        return OtherProgram(
            output: said[0], errors: said[1], status: process.terminationStatus,
            endedBySignal: process.terminationReason == .uncaughtSignal)
    }

    /// Everything that comes, up to the end of each.
    private static func drain(_ descriptors: [Int32]) -> [Data] {
        var all = descriptors.map { _ in Data() }
        var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while waiting.contains(where: { $0.fd >= 0 }) {
            guard poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                let count = read(waiting[index].fd, &buffer, buffer.count)
                if count > 0 { all[index].append(contentsOf: buffer[..<count]) }
                // A negative one is passed over by `poll`.
                if count == 0 || (count < 0 && errno != EINTR) { waiting[index].fd = -1 }
            }
        }
        return all
    }
}
