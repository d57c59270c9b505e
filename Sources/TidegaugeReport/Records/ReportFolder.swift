// Folders that reports go to: made where they are not there, and refused where they cannot be used, before anything is measured
// that would have nowhere to go.
import Foundation

public enum ReportFolder {
    /// Leaves room for the names of what is in it.
    private static let longest = Int(PATH_MAX) - 512
    private static let use = "use it as a folder for reports"

    /// Makes `path`, and the folders above it; fine where it is there.
    /// - Throws: `ReportError` where something else is there, where it may not be made, or where somebody else could have put
    ///   it there: see `checkOwners`.
    public static func make(_ path: String) throws {
        guard !path.isEmpty else { throw ReportError(use, "''", reason: "its name is empty") }
        guard path != "~", !path.hasPrefix("~/") else {
            throw ReportError(
                use, path, reason: "a shell expands '~' outside quotes alone (write $HOME, or ./~ for that name)")
        }
        guard path.utf8.count <= longest else { throw ReportError(use, path, errno: ENAMETOOLONG) }
        for part in ancestors(path) where mkdir(part, 0o777) != 0 {
            let code = errno
            var status = stat()
            // What is there is looked at, whatever the call found fault with: a read-only file system names itself first.
            if stat(part, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else { throw ReportError(use, part, reason: "it is a file") }
            } else if code == EEXIST {
                throw ReportError(use, part, reason: "it is a link that leads nowhere")
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
        let probe = "\(path)/.tidegauge-\(UUID().uuidString)"
        let file = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ReportError("create a file in it", path, errno: errno) }
        defer {
            close(file)
            unlink(probe)
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
                    use, part, reason: "it belongs to another user, in a folder that everybody may write to")
            }
        }
    }

    /// `a`, `a/b` and `a/b/c` of `a/b/c`; without the root.
    private static func ancestors(_ path: String) -> [String] {
        let parts = path.split(separator: "/").map(String.init)
        return parts.indices.map { (path.hasPrefix("/") ? "/" : "") + parts[...$0].joined(separator: "/") }
    }
}

/// Reports/latest: a symbolic link to the run that was started last.
public enum LatestLink {
    public static let name = "latest"

    /// Sees whether `latest` can be set: a folder or a file of one's own in its place is not taken away.
    /// - Throws: `ReportError`.
    static func check(in root: String) throws {
        var status = stat()
        let path = root + "/" + name
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { return }
        throw ReportError("replace the link", path, reason: "it is no link; move it away")
    }

    /// Points `root/latest` to `runID`, relative to it, in one step: there is never a moment without a link.
    /// - Throws: `ReportError`, also where something that is no link stands in its place.
    public static func point(to runID: String, in root: String) throws {
        try check(in: root)
        let path = root + "/" + name
        let temporary = "\(path).new-\(getpid())"
        unlink(temporary)
        guard symlink(runID, temporary) == 0 else { throw ReportError("make the link", temporary, errno: errno) }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw ReportError("replace the link", path, errno: code)
        }
    }
}
