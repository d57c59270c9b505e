// A child process, started by `posix_spawn` in its own process group, which is signalled as a whole. Both pipes are
// drained together, because a child blocks on a full pipe that is not read.
//
// All reading and writing happens in calls on the caller's thread, so no lock or queue is needed.
import CStillingWellPlatform
import Foundation
import Glibc

/// A child process from start to end. One thread at a time. A child released before its end is killed.
public final class Subprocess {
    /// Destination of one of the child's outputs.
    public enum Output: Sendable {
        case discarded
        /// The same destination as this process's own output.
        case inherited
        /// Appended to a file, which is created if missing.
        case file(String)
        /// Passed to the caller of `advance`.
        case piped
    }

    public enum Stream: Int, Sendable, CaseIterable { case output, errors }

    /// End of a process.
    public enum Exit: Sendable, Equatable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)

        public var isSuccess: Bool { self == .status(0) }

        public var description: String {
            switch self {
            case .status(let status): "exit status \(status)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    /// Error: a program cannot be started.
    public struct CannotStart: Error, CustomStringConvertible {
        public var description: String
    }

    public let pid: pid_t
    /// nil until `advance` has seen the end of the process.
    public private(set) var exit: Exit?
    /// This process's ends of the pipes by `Stream`; negative if there is none or it is closed.
    private var outputs: [Int32] = [-1, -1]
    private var input: Int32 = -1
    private var unwritten = Data()
    private var closesInput: Bool
    /// Descriptor that becomes readable when the child ends; negative before Linux 5.3.
    private let ending: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Polling interval if the kernel cannot report the child's end.
    private static let lookEveryMs: Int32 = 10
    /// Number of reads after the child's end: room for twice the kernel's usual maximum of a pipe. Output of its
    /// descendants could be endless.
    private static let lastReads = 32

    /// Starts the program at `path`.
    /// - Parameters:
    ///   - folder: working directory; nil: that of this process.
    ///   - environment: variables added to this process's environment.
    ///   - input: standard input of any length, written in `advance`.
    ///   - keepsInputOpen: whether `write` will add more input.
    /// - Throws: `CannotStart`.
    public init(
        _ path: String, _ arguments: [String] = [], in folder: String? = nil, environment: [String: String] = [:],
        input: Data = Data(), keepsInputOpen: Bool = false, output: Output = .piped, errors: Output = .piped
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The child's ends of the pipes, which are closed here.
        var given: [Int32] = []
        var kept: [Int32] = []
        var isStarted = false
        defer { for end in isStarted ? given : given + kept { Glibc.close(end) } }
        /// Creates a pipe, gives one end to the child as descriptor `number`, and returns the other.
        func pipe(to number: Int32, childReads: Bool) throws -> Int32 {
            var ends: [Int32] = [-1, -1]
            guard cp_pipe(&ends) == 0 else { throw Self.failure(path, errno) }
            let (own, theirs) = childReads ? (ends[1], ends[0]) : (ends[0], ends[1])
            _ = fcntl(own, F_SETFL, O_NONBLOCK)
            given.append(theirs)
            kept.append(own)
            posix_spawn_file_actions_adddup2(&actions, theirs, number)
            return own
        }
        if input.isEmpty, !keepsInputOpen {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        } else {
            self.input = try pipe(to: 0, childReads: true)
        }
        for (stream, kind) in zip(Stream.allCases, [output, errors]) {
            let number = Int32(stream.rawValue + 1)
            switch kind {
            case .inherited: break
            case .discarded: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
            case .file(let file):
                let flags = O_WRONLY | O_CREAT | O_APPEND
                posix_spawn_file_actions_addopen(&actions, number, file, flags, 0o644)
            case .piped: outputs[stream.rawValue] = try pipe(to: number, childReads: false)
            }
        }
        // The child inherits no other descriptors.
        cp_isolate_spawn(&actions, folder)
        pid = try Self.spawn(path, arguments, environment, &actions)
        isStarted = true
        ending = cp_pidfd(pid)
        unwritten = input
        closesInput = !keepsInputOpen
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String],
        _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child starts with default signal handlers and an empty mask.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in argv + envp { free(word) } }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, path, &actions, &attributes, argv, envp)
        guard error == 0 else { throw failure(path, error) }
        return pid
    }

    private static func failure(_ path: String, _ error: Int32) -> CannotStart {
        CannotStart(description: "\(path) cannot be started: \(String(cString: strerror(error)))")
    }

    deinit {
        if exit == nil { kill() }
    }

    /// Adds standard input, which must have been kept open. Writes what fits into the pipe; `advance` writes the rest.
    public func write(_ data: Data) {
        unwritten += data
        writeInput()
    }

    /// Closes standard input after all added input has been written.
    public func closeInput() {
        closesInput = true
        writeInput()
    }

    /// Hands over this process's end of the child's standard input, which does not block and must have been kept open.
    /// The caller writes to it and closes it.
    public func takeInput() -> Int32 {
        defer { input = -1 }
        return input
    }

    /// Signals the child's process group, or the child alone if that fails.
    public func signal(_ number: Int32) {
        if exit == nil, Glibc.kill(-pid, number) != 0 { _ = Glibc.kill(pid, number) }
    }

    /// Kills the child's process group, and waits for the end of the child.
    public func kill() {
        signal(SIGKILL)
        while exit == nil { _ = advance { _, _ in } }
    }

    /// Waits for output, room for input, the end of the child, or `untilNs` on the monotonic clock. May return earlier.
    /// - Parameters:
    ///   - descriptor: another descriptor; the call also returns when it is readable.
    ///   - heard: receives output in pieces of any length.
    /// - Returns: the exit, after the child's output has been received; nil while it runs.
    @discardableResult
    public func advance(
        untilNs: Int64 = .max, or descriptor: Int32 = -1, _ heard: (Stream, UnsafeBufferPointer<UInt8>) -> Void
    ) -> Exit? {
        if exit != nil { return exit }
        var waiting = outputs.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        waiting.append(pollfd(fd: unwritten.isEmpty ? -1 : input, events: Int16(POLLOUT), revents: 0))
        waiting.append(pollfd(fd: ending, events: Int16(POLLIN), revents: 0))
        waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        poll(&waiting, nfds_t(waiting.count), waitMs(untilNs))
        if waiting[2].revents != 0 { writeInput() }
        // Checked before the last output is read, so that all of it is available then.
        let hasEnded = reap()
        for stream in Stream.allCases { read(stream, mostReads: hasEnded == nil ? 1 : Self.lastReads, heard) }
        if let hasEnded { end(hasEnded) }
        return exit
    }

    private func waitMs(_ untilNs: Int64) -> Int32 {
        let most: Int64 = ending < 0 ? Int64(Self.lookEveryMs) : 60_000
        let leftNs = max(0, untilNs - MonotonicClock.nowNs())
        return Int32(min(most, leftNs / 1_000_000 + (leftNs % 1_000_000 > 0 ? 1 : 0)))
    }

    private func read(_ stream: Stream, mostReads: Int, _ heard: (Stream, UnsafeBufferPointer<UInt8>) -> Void) {
        for _ in 0..<mostReads {
            let descriptor = outputs[stream.rawValue]
            guard descriptor >= 0 else { return }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                buffer.withUnsafeBufferPointer { heard(stream, .init(rebasing: $0[..<count])) }
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                Glibc.close(descriptor)
                outputs[stream.rawValue] = -1
            } else if errno == EAGAIN {
                return
            }
        }
    }

    /// Writes as much as fits. A child that closed its input is not an error.
    private func writeInput() {
        while input >= 0, !unwritten.isEmpty {
            let count = unwritten.withUnsafeBytes { Int(cp_write_unsignalled(input, $0.baseAddress, UInt($0.count))) }
            if count >= 0 {
                unwritten.removeFirst(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                unwritten = Data()
                closesInput = true
            }
        }
        if closesInput, input >= 0 {
            Glibc.close(input)
            input = -1
        }
    }

    private func reap() -> Exit? {
        var status: Int32 = 0
        let reaped = waitpid(pid, &status, WNOHANG)
        guard reaped != 0 else { return nil }
        // Reaped by other code: the exit is unknown and counts as failure.
        guard reaped == pid else { return .status(-1) }
        let signal = status & 0x7F
        return signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
    }

    /// Ends without waiting for descendants that hold the pipes open.
    private func end(_ how: Exit) {
        for descriptor in outputs + [input, ending] where descriptor >= 0 { Glibc.close(descriptor) }
        outputs = [-1, -1]
        input = -1
        exit = how
    }
}

/// Splits a stream of bytes into lines.
public struct LineSplitter: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// - Returns: the completed lines, without line ends.
    public mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
        pending += bytes
        guard pending.contains(UInt8(ascii: "\n")) else { return [] }
        var lines = pending.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        pending = Array(lines.removeLast())
        return lines.map(Array.init)
    }
}
