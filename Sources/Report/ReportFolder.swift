// Folders that reports go to: made where they are not there, and refused where they cannot be used, before anything is measured
// that would have nowhere to go.
import Foundation
import Measure

public enum ReportFolder {
    /// Leaves room for the names of what is in it.
    private static let longest = Int(PATH_MAX) - 512

    /// Makes `path`, and the folders above it; fine where it is there.
    /// - Throws: `ReportError` where something else is there, where it may not be made, or where somebody else could have put
    ///   it there: see `checkOwners`.
    public static func make(_ path: String) throws {
        guard !path.isEmpty else {
            throw ReportError("use it as a folder for reports", "''", reason: "its name is empty")
        }
        guard path.utf8.count <= longest else {
            throw ReportError("use it as a folder for reports", path, errno: ENAMETOOLONG)
        }
        for part in ancestors(path) where mkdir(part, 0o777) != 0 {
            let code = errno
            var status = stat()
            // What is there is looked at, whatever the call found fault with: a read-only file system names itself first.
            if stat(part, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else {
                    throw ReportError("use it as a folder for reports", part, reason: "it is a file")
                }
            } else if code == EEXIST {
                throw ReportError("use it as a folder for reports", part, reason: "it is a link that leads nowhere")
            } else {
                throw ReportError("make the folder", part, errno: code)
            }
        }
        try checkOwners(path)
    }

    /// Makes `path` and sees whether a report can be written there: a file of it, with something in it, on the disk.
    /// - Parameter links: whether `latest` will be set to a run there.
    /// - Throws: `ReportError`.
    public static func prepare(_ path: String, links: Bool = false) throws {
        try make(path)
        if links { try LatestLink.check(in: path) }
        var template = Array("\(path)/.tidegauge-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw ReportError("create a file in it", path, errno: errno) }
        defer {
            close(file)
            unlink(template)
        }
        try ReportFile.write("x".utf8, to: file, path: path)
    }

    /// In a folder that everybody may write to, such as /tmp, anybody can make a folder or a link of the name that a report
    /// will have, and have it overwrite what they like. So nothing is written through what another user made there.
    private static func checkOwners(_ path: String) throws {
        var above = path.hasPrefix("/") ? "/" : "."
        for part in ancestors(path) {
            defer { above = part }
            var (own, parent) = (stat(), stat())
            guard lstat(part, &own) == 0, stat(above, &parent) == 0 else { continue }
            if own.st_uid != geteuid(), own.st_uid != 0, parent.st_mode & 0o002 != 0 {
                throw ReportError(
                    "use it as a folder for reports", part,
                    reason: "it belongs to another user, in a folder that everybody may write to")
            }
        }
    }

    /// `a`, `a/b` and `a/b/c` of `a/b/c`; without the root.
    private static func ancestors(_ path: String) -> [String] {
        let parts = path.split(separator: "/").map(String.init)
        return parts.indices.map { (path.hasPrefix("/") ? "/" : "") + parts[...$0].joined(separator: "/") }
    }
}
