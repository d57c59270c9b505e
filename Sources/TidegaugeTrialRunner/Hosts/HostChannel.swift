// Standard input and output of this process, used for frames only: prints go to standard error. Used by one thread.
import CStillingWellPlatform
import Foundation
import TidegaugeMeasure
import TidegaugeTrial

final class HostChannel {
    static let input: Int32 = 0
    private let output: Int32
    private var reader = HostFrameReader()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Call once in a process, before anything is printed.
    init() {
        output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        dup2(2, 1)
    }

    /// - Throws: `TrialFault.harness` if the output cannot be written.
    func send(_ frame: HostFrame) throws {
        let bytes = frame.bytes
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Int(cp_write_unsignalled(output, $0.baseAddress! + sent, UInt(bytes.count - sent)))
            }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                throw TrialFault.harness("the standard output of this agent is not read (errno \(errno))")
            }
        }
    }

    /// Reads the available bytes, or waits until there are some.
    /// - Returns: false at the end of the input, or after an error.
    func read() -> Bool {
        while true {
            let count = Glibc.read(Self.input, &buffer, buffer.count)
            if count > 0 { reader.add(buffer[..<count]) }
            if count >= 0 { return count > 0 }
            if errno != EINTR { return false }
        }
    }

    /// Whether there is input, or its end has been reached.
    var isReadable: Bool {
        var waiting = pollfd(fd: Self.input, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }

    /// Returns the next frame of the input read so far, or nil if it is incomplete.
    func next() throws(HostFrame.Damage) -> HostFrame? { try reader.next() }

    /// Waits for a frame of this kind. Throws if another one comes, an invalid one, or only a part of one.
    /// - Returns: nil at the end of the input.
    func expect(_ kind: HostFrame.Kind) throws -> HostFrame? {
        while true {
            if let frame = try reader.next() {
                guard frame.kind == kind else {
                    throw TrialFault.harness("a frame '\(frame.kind)' came in place of '\(kind)'")
                }
                return frame
            }
            if !read() {
                try reader.end()
                return nil
            }
        }
    }
}
