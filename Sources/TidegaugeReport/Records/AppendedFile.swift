// A text file that grows by complete lines, which are on disk when `append` returns. Used by one thread.
import Foundation

/// A file opened for appending, closed on deinit.
final class AppendedFile {
    let path: String
    private let file: Int32

    /// Opens the file, which may exist already (a resumed run). An incomplete last line of a killed run is cut off.
    /// - Parameter header: text written if the file has no complete line.
    init(_ path: String, header: String = "") throws {
        self.path = path
        file = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 || errno != ELOOP else {
            throw ReportError("open the file", path, reason: "it is a link, which another user may have placed there")
        }
        guard file >= 0 else { throw ReportError("open the file", path, errno: errno) }
        let existing = try Data(contentsOf: URL(fileURLWithPath: path))
        let wholeLines = existing.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if wholeLines < existing.count {
            guard ftruncate(file, off_t(wholeLines)) == 0 else {
                throw ReportError("remove an incomplete line", path, errno: errno)
            }
        }
        if wholeLines == 0, !header.isEmpty { try append(header) }
    }

    deinit { if file >= 0 { close(file) } }

    func append(_ text: String) throws { try ReportFile.write(text.utf8, to: file, path: path) }
}
