// What a thread has had to do with the kernel so far, as the kernel counts it itself.

/// Of one thread of this process, since it began.
public struct ThreadTraffic: Sendable, Equatable {
    /// Handed to `write` and its kind.
    public var writtenBytes: Int64
    /// How often it gave its core away to wait.
    public var sleeps: Int64

    /// - Returns: nil where the thread has ended, or the kernel keeps no such account.
    public init?(ofThread tid: Int32) {
        let folder = "/proc/self/task/\(tid)"
        guard let written = Self.field("wchar", of: "\(folder)/io"),
            let sleeps = Self.field("voluntary_ctxt_switches", of: "\(folder)/status")
        else { return nil }
        (writtenBytes, self.sleeps) = (written, sleeps)
    }

    private static func field(_ name: String, of path: String) -> Int64? {
        let line = ProcFile.text(path)?.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int64($0.dropFirst(name.count + 1).drop(while: \.isWhitespace)) }
    }
}
