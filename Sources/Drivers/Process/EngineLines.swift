// Splits what an engine writes into lines, of which none may be longer than the limit of the protocol.

/// Used on the thread that reads.
final class EngineLines {
    /// Greatest length of a line in bytes, without its end.
    static let longest = 8 << 20
    /// Number of bytes of a line that messages show.
    private static let shown = 200

    private var pending: [UInt8] = []

    /// Calls `line` with each complete line, until one has a failure or is too long.
    /// - Returns: the failure.
    func add(
        _ bytes: UnsafeBufferPointer<UInt8>, _ line: (UnsafeBufferPointer<UInt8>) -> ProcessFailure?
    ) -> ProcessFailure? {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let part = UnsafeBufferPointer(rebasing: rest[..<end])
            rest = rest[(end + 1)...]
            let failure: ProcessFailure?
            if pending.count + part.count > Self.longest {
                pending += part
                failure = tooLong()
            } else if pending.isEmpty {
                failure = line(part)
            } else {
                pending += part
                failure = pending.withUnsafeBufferPointer(line)
                pending.removeAll(keepingCapacity: true)
            }
            if let failure { return failure }
        }
        pending += rest
        return pending.count > Self.longest ? tooLong() : nil
    }

    private func tooLong() -> ProcessFailure {
        defer { pending = [] }
        return ProcessFailure(
            .lineTooLong, "it wrote a line of more than \(Self.longest) bytes: split the lists ('more'): '\(half)'")
    }

    /// Beginning of the line that has not ended.
    var half: String { pending.withUnsafeBufferPointer { Self.clipped($0) } }

    static func clipped(_ line: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: line.prefix(shown), as: UTF8.self) + (line.count > shown ? "…" : "")
    }
}
