// Reads and writes small files in /proc and /sys, whose size is unknown before reading.
import Glibc

enum ProcFile {
    /// Returns the first 64 KiB of a file as text, or `nil` if it is not readable.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var length = 0
        while length < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + length, $0.count - length) }
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return nil }
            if got == 0 { break }
            length += got
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }

    /// Writes `text` to an existing file and ignores errors.
    static func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
    }

    /// Parses the `cpu` line of /proc/stat in ticks: user nice system idle iowait irq softirq steal, `guest` and
    /// `guest_nice`, which are included in user and nice. Returns nil without such a line.
    static func processorTicks(_ stat: String) -> [Int64]? {
        stat.split(separator: "\n").first { $0.hasPrefix("cpu ") }
            .map { $0.split(separator: " ").dropFirst().compactMap { Int64($0) } }
    }

    /// Returns the text of a file without surrounding white space, or nil if it is empty or not readable.
    static func word(_ path: String) -> String? {
        guard let text = text(path) else { return nil }
        let trimmed = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        return trimmed.isEmpty ? nil : String(trimmed)
    }
}
