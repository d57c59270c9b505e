// A child process: started with `posix_spawn` in a process group of its own, which is signalled as a whole, and its pipes drained
// together. A program that fills the one of its outputs that nobody reads would wait for a reader for ever, and the reader
// of the other one for its end.
//
// Nothing is read or written but in `advance`, on the caller's thread, so a child needs neither a lock nor a queue.
import CStillingWellPlatform
import Foundation
import Glibc

/// One child process, from its start to its end. One thread at a time; a child that is let go of before its end is killed.
public final class Subprocess {
    /// Where one of the child's outputs goes.
    public enum Output: Sendable {
        case discarded
        /// To where this process's own goes.
        case inherited
        /// At the end of a file, which is made if it is not there.
        case file(String)
        /// To who calls `advance`.
        case piped
    }

    public enum Stream: Int, Sendable, CaseIterable { case output, errors }

    /// How it ended.
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

    /// A program that cannot be started.
    public struct CannotStart: Error, CustomStringConvertible {
        public var description: String
    }

    public let pid: pid_t
    /// nil while it runs.
    public private(set) var exit: Exit?
    /// This process's ends of the pipes, by `Stream`; negative where there is none, or no longer.
    private var outputs: [Int32] = [-1, -1]
    private var input: Int32 = -1
    private var unwritten = Data()
    private var closesInput: Bool
    /// Readable when the child has ended; negative where the kernel has no such thing (before Linux 5.3).
    private let ending: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// How often to look for the end of a child where the kernel tells nobody.
    private static let lookEveryMs: Int32 = 10
    /// Twice what the largest pipe holds: what the child has said is read, and what it started may go on for ever.
    private static let lastReads = 32

    /// Starts the program at `path`.
    /// - Parameters:
    ///   - folder: It runs there; nil: where this process does.
    ///   - environment: On top of this process's own.
    ///   - input: On its standard input, of any length, written in `advance`.
    ///   - keepsInputOpen: Whether there will be more of it, by `write`.
    /// - Throws: `CannotStart`.
    public init(
        _ path: String, _ arguments: [String] = [], in folder: String? = nil, environment: [String: String] = [:],
        input: Data = Data(), keepsInputOpen: Bool = false, output: Output = .piped, errors: Output = .piped
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The child's ends: it has them under other numbers, and they are closed here in any case.
        var given: [Int32] = []
        var kept: [Int32] = []
        var isStarted = false
        defer { for end in isStarted ? given : given + kept { Glibc.close(end) } }
        /// Makes a pipe, gives one end to the child as its descriptor `number`, and returns the other.
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
        // What else this process has open is none of the child's.
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
        // Signals that this process ignores or blocks are the child's to hear.
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

    /// More for its standard input, which was to be kept open. Written in `advance`, what fits into the pipe at once.
    public func write(_ data: Data) {
        unwritten += data
        writeInput()
    }

    /// There is no more for its standard input, once all that was to be written is.
    public func closeInput() {
        closesInput = true
        writeInput()
    }

    /// Signals it and everything it has started.
    public func signal(_ number: Int32) {
        if exit == nil, Glibc.kill(-pid, number) != 0 { _ = Glibc.kill(pid, number) }
    }

    /// Kills it and everything it has started, and waits for its end.
    public func kill() {
        signal(SIGKILL)
        while exit == nil { _ = advance { _, _ in } }
    }

    /// Waits for the next thing to happen: something is heard, or it ends, or it is `untilNs` on the monotonic clock.
    /// - Parameters:
    ///   - descriptor: one of the caller's own, to wait for as well: returns when it can be read.
    ///   - heard: called with what came, in pieces of any length.
    /// - Returns: how it ended, once all that it said has been heard; nil while it runs.
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
        // Asked before the last of its words are read, which are there by then.
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

    /// As much as there is room for. A child that does not read is no error of the writer.
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
        // Reaped by somebody else: how it ended nobody can tell, and it was no success.
        guard reaped == pid else { return .status(-1) }
        let signal = status & 0x7F
        return signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
    }

    /// Whatever it started may hold the pipes open; it is not waited for.
    private func end(_ how: Exit) {
        for descriptor in outputs + [input, ending] where descriptor >= 0 { Glibc.close(descriptor) }
        outputs = [-1, -1]
        input = -1
        exit = how
    }
}

/// Cuts what comes in pieces into lines.
public struct LineSplitter: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// - Returns: the lines that have ended, without their ends.
    public mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
        pending += bytes
        guard pending.contains(UInt8(ascii: "\n")) else { return [] }
        var lines = pending.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        pending = Array(lines.removeLast())
        return lines.map(Array.init)
    }
}
