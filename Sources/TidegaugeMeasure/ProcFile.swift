// Small files of /proc and /sys, whose size is not known before they are read.
import Glibc

enum ProcFile {
    /// The first 64 KiB of a file as text; `nil` when it cannot be read.
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

    /// Writes `text` to an existing file; what cannot be written is left as it was.
    static func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
    }

    /// Of the `cpu` line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal, and guests' time, which is in
    /// user and nice; nil where there is no such line.
    static func processorTicks(_ stat: String) -> [Int64]? {
        stat.split(separator: "\n").first { $0.hasPrefix("cpu ") }
            .map { $0.split(separator: " ").dropFirst().compactMap { Int64($0) } }
    }

    /// The text of a file without the white space around it.
    static func word(_ path: String) -> String? {
        guard let text = text(path) else { return nil }
        let trimmed = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        return trimmed.isEmpty ? nil : String(trimmed)
    }
}
