// The agent of a host, seen from the trial that started it: heard, told, pinged, and given up when it is gone or silent. The
// conducting thread.
import Foundation
import Measure
import Scenario
import Trials

final class HostLink {
    /// An agent that is to be reached: a login on another machine.
    static let helloNs: Int64 = 30_000_000_000
    /// A process that starts, opens a store and makes a hundred thousand rows for itself.
    static let readyNs: Int64 = 60_000_000_000
    /// Of an agent that has been told to end.
    private static let endNs: Int64 = 2_000_000_000
    private static let mostErrorBytes = 1_000

    let host: HostEntry
    private let process: Subprocess
    private var reader = HostFrameReader()
    /// The end of what its command has said of errors, which has gone to this process's too.
    private var errors: [UInt8] = []
    private(set) var heardNs = MonotonicClock.nowNs()

    /// Starts the agent. It need not be reached by now.
    /// - Throws: `TrialFault.host`.
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

    /// An error that names the host.
    func fault(_ reason: String) -> TrialFault { .host("'\(host.name)': \(reason)") }

    func send(_ frame: HostFrame) { process.write(Data(frame.bytes)) }

    /// The next frame; nil when there is none until then.
    /// - Throws: `TrialFault.host` where there will be none any more, or what came is none.
    func next(untilNs deadlineNs: Int64) throws -> HostFrame? {
        var hasLooked = false
        while true {
            do {
                if let frame = try reader.next() { return frame }
                if process.exit != nil { try reader.end() }
            } catch {
                throw fault("it said \(error)\(lastWords)")
            }
            if let exit = process.exit {
                throw fault("its agent is gone (\(exit))\(lastWords); see 'run' in the hosts file, and the host's log")
            }
            if hasLooked, MonotonicClock.nowNs() >= deadlineNs { return nil }
            process.advance(untilNs: deadlineNs) { stream, bytes in hear(stream, bytes) }
            hasLooked = true
        }
    }

    private func hear(_ stream: Subprocess.Stream, _ bytes: UnsafeBufferPointer<UInt8>) {
        switch stream {
        case .output:
            reader.add(bytes)
            heardNs = MonotonicClock.nowNs()
        case .errors:
            FileHandle.standardError.write(Data(bytes))
            errors = (errors + bytes).suffix(Self.mostErrorBytes)
        }
    }

    private var lastWords: String {
        let lines = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).suffix(3)
        return lines.isEmpty ? "" : ": " + lines.joined(separator: "; ")
    }

    /// The next frame, which has to be of that kind.
    func expect(_ kind: HostFrame.Kind, withinNs timeoutNs: Int64) throws -> HostFrame {
        guard let frame = try next(untilNs: MonotonicClock.nowNs() + timeoutNs) else {
            throw fault("it has not said '\(kind)' for \(timeoutNs / 1_000_000) ms\(lastWords)")
        }
        if frame.kind == .done, let failure = try decoded(frame, HostReport.self).failure { throw failure.fault }
        guard frame.kind == kind else { throw fault("it said '\(frame.kind)' where '\(kind)' was due") }
        return frame
    }

    func decoded<Value: Decodable>(_ frame: HostFrame, _ type: Value.Type) throws -> Value {
        try reading(frame) { try $0.decoded(type) }
    }

    func integers(_ frame: HostFrame, _ count: Int) throws -> [Int64] { try reading(frame) { try $0.integers(count) } }

    /// Reads a frame; what is wrong with it names the host.
    func reading<Value>(_ frame: HostFrame, _ body: (HostFrame) throws -> Value) throws -> Value {
        do { return try body(frame) } catch { throw fault("it said \(error)") }
    }

    /// Waits for its first word, and sees that it is an agent that this trial can have.
    /// - Parameter binarySHA: of this process's own file; nil: the agent was started from that very file.
    func awaitHello(binarySHA: String?) throws -> HostHello {
        let frame = try expect(.hello, withinNs: Self.helloNs)
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
        return hello
    }

    /// Lets it end by itself, which it does at the end of its input; kills it where it does not.
    func end() {
        process.closeInput()
        let deadlineNs = MonotonicClock.nowNs() + Self.endNs
        while process.exit == nil, MonotonicClock.nowNs() < deadlineNs {
            process.advance(untilNs: deadlineNs) { _, _ in }
        }
        process.kill()
    }
}
