// The trial's side of the connection to the agent of a host. It exchanges frames, pings, and fails if the agent has
// ended. Used by the conducting thread.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class HostLink {
    /// Timeout in ns for reaching an agent: it covers a login on another machine.
    static let helloNs: Int64 = 30_000_000_000
    /// Timeout in ns for a process that starts and opens a store.
    static let readyNs: Int64 = 60_000_000_000
    /// Timeout in ns for an agent that was told to end.
    private static let endNs: Int64 = 1_000_000_000
    private static let mostErrorBytes = 1_000

    let host: HostEntry
    private let process: Subprocess
    private var reader = HostFrameReader()
    /// The last error output of the command, which is also copied to this process's error output.
    private var errors: [UInt8] = []
    private(set) var heardNs = MonotonicClock.nowNs()
    /// Frames that have arrived but have not been requested.
    private var waiting: [HostFrame] = []
    private(set) var clock = HostClock(isSame: false)
    /// Time of the last ping.
    private(set) var pingedNs = Int64.min
    /// Times of the unanswered pings, ascending.
    private var unanswered: [Int64] = []

    /// Starts the agent without waiting until it is reached.
    init(_ host: HostEntry) throws {
        self.host = host
        let (program, arguments) = try Self.command(host)
        do {
            process = try Subprocess(
                program, arguments, keepsInputOpen: true, errors: host.isHere ? .inherited : .piped)
        } catch {
            throw TrialFault.host("'\(host.name)': \(error)")
        }
    }

    private static func command(_ host: HostEntry) throws -> (program: String, arguments: [String]) {
        if host.isHere { return ("/proc/\(getpid())/exe", ["agent"]) }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let words = host.run + [host.binary ?? own, "agent", "--describe"]
        guard let program = words[0].contains("/") ? words[0] : Subprocess.find(words[0]) else {
            throw TrialFault.host("'\(host.name)': the PATH has no '\(words[0])'; correct 'run' in the hosts file")
        }
        return (program, Array(words.dropFirst()))
    }

    /// Returns an error that names the host.
    func fault(_ reason: String) -> TrialFault { .host("'\(host.name)': \(reason)") }

    func send(_ frame: HostFrame) { process.write(Data(frame.bytes)) }

    /// Returns the next frame that is no pong, or nil if none arrives before the deadline.
    func next(untilNs deadlineNs: Int64) throws -> HostFrame? {
        var hasLooked = false
        while true {
            try sort()
            if !waiting.isEmpty { return waiting.removeFirst() }
            if hasLooked, MonotonicClock.nowNs() >= deadlineNs { return nil }
            try advance(untilNs: deadlineNs)
            hasLooked = true
        }
    }

    /// Waits for output of the agent.
    private func advance(untilNs deadlineNs: Int64) throws {
        if let exit = process.exit {
            throw fault("its agent has ended (\(exit))\(lastWords); see 'run' in the hosts file, and the host's log")
        }
        process.advance(untilNs: deadlineNs) { stream, bytes in hear(stream, bytes) }
    }

    /// Handles the frames that have arrived: pongs immediately; others are queued in order.
    private func sort() throws {
        do {
            while let frame = try reader.next() {
                if frame.kind == .pong { try takePong(frame) } else { waiting.append(frame) }
            }
            if process.exit != nil, waiting.isEmpty { try reader.end() }
        } catch let contradiction as ClockContradiction {
            throw fault("\(contradiction)")
        } catch {
            throw fault("it said \(error)\(lastWords)")
        }
    }

    private func hear(_ stream: Subprocess.Stream, _ bytes: UnsafeBufferPointer<UInt8>) {
        switch stream {
        case .output:
            reader.add(bytes)
            heardNs = MonotonicClock.nowNs()
        case .errors:
            StandardStream.errors.write(bytes)
            errors = (errors + bytes).suffix(Self.mostErrorBytes)
        }
    }

    private var lastWords: String {
        let lines = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).suffix(3)
        return lines.isEmpty ? "" : ": " + lines.joined(separator: "; ")
    }

    /// Returns the next frame if it has this kind and arrives in time.
    func expect(_ kind: HostFrame.Kind, withinNs timeoutNs: Int64) throws -> HostFrame {
        guard let frame = try next(untilNs: MonotonicClock.nowNs() + timeoutNs) else {
            throw fault("it has not sent '\(kind)' for \(timeoutNs / 1_000_000) ms\(lastWords)")
        }
        if frame.kind == .done, let failure = try decoded(frame, HostReport.self).failure {
            throw failure.fault(on: host)
        }
        guard frame.kind == kind else { throw fault("it sent '\(frame.kind)' in place of '\(kind)'") }
        return frame
    }

    func decoded<Value: Decodable>(_ frame: HostFrame, _ type: Value.Type) throws -> Value {
        try reading(frame) { try $0.decoded(type) }
    }

    func integers(_ frame: HostFrame, _ count: Int) throws -> [Int64] { try reading(frame) { try $0.integers(count) } }

    /// Decodes a frame; errors name the host.
    func reading<Value>(_ frame: HostFrame, _ body: (HostFrame) throws -> Value) throws -> Value {
        try reading { try body(frame) }
    }

    /// Decodes a message; errors name the host.
    func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw fault("it said \(error)") }
    }

    /// Sends a ping. The answer is handled whenever it arrives.
    func ping() {
        pingedNs = MonotonicClock.nowNs()
        unanswered.append(pingedNs)
        send(HostFrame(.ping, integers: [pingedNs]))
    }

    private func takePong(_ frame: HostFrame) throws {
        let moments = try frame.integers(3)
        // Answers arrive in the order of the pings, and none is lost.
        guard moments[0] == unanswered.first else { throw HostNumber("the ping of", moments[0], "none was sent then") }
        unanswered.removeFirst()
        for moment in moments { try HostNumber.check("a moment", moment, in: -HostNumber.mostNs...HostNumber.mostNs) }
        try clock.add(
            ClockExchange(
                sentNs: moments[0], arrivedNs: moments[1], leftNs: moments[2], returnedNs: max(heardNs, moments[0])))
    }

    /// Performs several pings, one after the other.
    func learnClock(exchanges: Int, withinNs timeoutNs: Int64) throws {
        let wanted = clock.exchanges + exchanges
        let deadlineNs = MonotonicClock.nowNs() + timeoutNs
        while clock.exchanges < wanted {
            let before = clock.exchanges
            ping()
            while clock.exchanges == before {
                if MonotonicClock.nowNs() >= deadlineNs {
                    throw fault("it has not answered a ping for \(timeoutNs / 1_000_000) ms\(lastWords)")
                }
                try advance(untilNs: deadlineNs)
                try sort()
            }
        }
    }

    /// Waits for the agent's first frame and checks that its binary is compatible.
    /// - Parameter binarySHA: SHA-256 of this process's file; nil if the agent was started from the same file.
    func awaitHello(binarySHA: String?, withinNs: Int64 = helloNs) throws -> HostHello {
        let frame = try expect(.hello, withinNs: withinNs)
        let hello = try decoded(frame, HostHello.self)
        if hello.specVersion != TrialSpec.currentVersion {
            throw fault(
                "its binary reads specs of version \(hello.specVersion), this one \(TrialSpec.currentVersion): copy this "
                    + "binary there")
        }
        if let binarySHA, hello.binarySHA != binarySHA {
            throw fault(
                "its binary is another one (SHA-256 \(hello.binarySHA?.prefix(12) ?? "unknown"), here "
                    + "\(binarySHA.prefix(12))): copy this binary there, and let 'binary' in the hosts file name it")
        }
        clock = HostClock(isSame: hello.clock == .current())
        return hello
    }

    /// Closes the agent's input, which makes it end, and kills it if it does not end within 1 s.
    func end() {
        process.closeInput()
        let deadlineNs = MonotonicClock.nowNs() + Self.endNs
        while process.exit == nil, MonotonicClock.nowNs() < deadlineNs {
            process.advance(untilNs: deadlineNs) { _, _ in }
        }
        process.kill()
    }
}
