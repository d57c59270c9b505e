// A relay between a trial and an agent that simulates a bad connection. It delays bytes in both directions, and may
// fail some time after the trial has sent the agent the order to start. Single-threaded.
import ArgumentParser
import Foundation

struct RelayCommand: ParsableCommand {
    enum End: String, ExpressibleByArgument {
        /// The agent is killed, and the relay exits.
        case kill
        /// The relay exits, and the connection with it.
        case cut
        /// Nothing is passed on any more, in either direction. The relay exits when its input ends.
        case silence
        /// Bytes arrive that are not a frame, and then nothing, as for `silence`.
        case garble
        /// The command of `--run` is executed, and the connection remains.
        case run
    }

    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Start a command behind a bad connection.", shouldDisplay: false)

    @Option(help: "Delay in ms of bytes to the command.")
    var thereMs = 0.0

    @Option(help: "Delay in ms of bytes from the command.")
    var backMs = 0.0

    @Option(help: "Time in ms from the agent's start order to the failure.")
    var afterMs = 0.0

    @Option(help: "Kind of failure: kill, cut, silence or garble, or run, which keeps the connection.")
    var then: End?

    @Option(name: .customLong("run"), help: "Shell command for the failure `run`.")
    var words = ""

    @Argument(parsing: .captureForPassthrough, help: "The command.")
    var command: [String]

    mutating func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let words = command.first == "--" ? Array(command.dropFirst()) : command
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try? input.fileHandleForReading.close()
        try? output.fileHandleForWriting.close()
        var there = Way(from: 0, to: input.fileHandleForWriting.fileDescriptor, delayMs: thereMs)
        var back = Way(from: output.fileHandleForReading.fileDescriptor, to: 1, delayMs: backMs)
        var endNs: UInt64?
        while !back.isOver {
            var waiting = [there.pollable, back.pollable]
            poll(&waiting, 2, Way.waitMs([there.dueNs, back.dueNs, endNs].compactMap { $0 }.min()))
            if waiting[0].revents != 0 { there.read() }
            if waiting[1].revents != 0 { back.read() }
            if then != nil, endNs == nil, there.hasStarted { endNs = Way.nowNs() + UInt64(afterMs * 1e6) }
            if let due = endNs, Way.nowNs() >= due {
                goDown(process)
                (then, endNs) = (nil, nil)
            }
            there.write()
            back.write()
        }
        process.waitUntilExit()
        Foundation.exit(process.terminationReason == .exit ? process.terminationStatus : 128)
    }

    private func goDown(_ process: Process) {
        switch then {
        case nil: return
        case .run:
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", words]
            shell.standardInput = FileHandle.nullDevice
            shell.standardOutput = FileHandle.standardError
            // If the shell does not start, the test that waits for its effect fails.
            try? shell.run()
            shell.waitUntilExit()
            return
        case .kill:
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        case .cut: break
        case .garble:
            try? FileHandle.standardOutput.write(contentsOf: Data("kernel: something else on this line\n".utf8))
            fallthrough
        case .silence:
            // Waits until the starting process gives up.
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
        }
        Foundation.exit(255)
    }
}

/// One direction. Bytes wait until they are due.
private struct Way {
    private let from: Int32
    private let to: Int32
    private let delayNs: UInt64
    private var parts: [(dueNs: UInt64, bytes: [UInt8])] = []
    private var isAtEnd = false
    /// Bytes of the current frame that are still to come, and its header so far.
    private var restOfFrame = 0
    private var header: [UInt8] = []
    private(set) var hasStarted = false

    init(from: Int32, to: Int32, delayMs: Double) {
        (self.from, self.to, delayNs) = (from, to, UInt64(delayMs * 1e6))
    }

    static func nowNs() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

    static func waitMs(_ dueNs: UInt64?) -> Int32 {
        guard let dueNs else { return -1 }
        let nowNs = nowNs()
        return dueNs <= nowNs ? 0 : Int32((dueNs - nowNs) / 1_000_000)
    }

    var isOver: Bool { isAtEnd && parts.isEmpty }
    var dueNs: UInt64? { parts.first?.dueNs }
    var pollable: pollfd { pollfd(fd: isAtEnd ? -1 : from, events: Int16(POLLIN), revents: 0) }

    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Foundation.read(from, &buffer, buffer.count)
        guard count > 0 else {
            isAtEnd = true
            return
        }
        let bytes = Array(buffer[..<count])
        for byte in bytes { look(byte) }
        parts.append((Self.nowNs() + delayNs, bytes))
    }

    /// A frame has a length (4 bytes, little-endian), a kind and a payload. The frame that starts an agent has kind 6.
    private mutating func look(_ byte: UInt8) {
        if restOfFrame > 0 {
            restOfFrame -= 1
            return
        }
        header.append(byte)
        guard header.count == 5 else { return }
        restOfFrame = (0..<4).reduce(0) { $0 | Int(header[$1]) << (8 * $1) }
        if byte == 6 { hasStarted = true }
        header = []
    }

    mutating func write() {
        while let part = parts.first, part.dueNs <= Self.nowNs() {
            parts.removeFirst()
            var sent = 0
            while sent < part.bytes.count {
                let count = part.bytes.withUnsafeBytes {
                    Foundation.write(to, $0.baseAddress! + sent, part.bytes.count - sent)
                }
                if count <= 0 { break }
                sent += count
            }
        }
        if isOver { close(to) }
    }
}
