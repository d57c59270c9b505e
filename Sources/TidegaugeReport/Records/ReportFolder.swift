// Creates and checks the folders of reports.
import Foundation

public enum ReportFolder {
    /// Maximum length of a path, which leaves room for the names inside.
    private static let longest = Int(PATH_MAX) - 512
    private static let use = "use it as a folder for reports"

    /// Creates `path` and its parents if missing.
    /// - Throws: `ReportError` if it cannot be used as a folder for reports.
    public static func make(_ path: String) throws {
        guard !path.isEmpty else { throw ReportError(use, "''", reason: "its name is empty") }
        guard path != "~", !path.hasPrefix("~/") else {
            throw ReportError(
                use, path,
                reason: "a shell expands '~' only outside of quotes (write $HOME, or ./~ for a folder of that name)")
        }
        guard path.utf8.count <= longest else { throw ReportError(use, path, errno: ENAMETOOLONG) }
        for part in ancestors(path) where mkdir(part, 0o777) != 0 {
            let code = errno
            var status = stat()
            // An existing folder is accepted whatever the error: a read-only file system fails with EROFS first.
            if stat(part, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else { throw ReportError(use, part, reason: "it is a file") }
            } else if code == EEXIST {
                throw ReportError(use, part, reason: "it is a link without a target")
            } else {
                throw ReportError("make the folder", part, errno: code)
            }
        }
        try checkOwners(path)
    }

    /// Creates `path` and checks that a file with content can be written there.
    /// - Parameter links: whether to check also that `latest` can be set there.
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

    /// Rejects folders and links that another user, except root, owns in a world-writable folder such as /tmp: a report
    /// written through them could overwrite other files.
    private static func checkOwners(_ path: String) throws {
        var above = path.hasPrefix("/") ? "/" : "."
        for part in ancestors(path) {
            defer { above = part }
            var (own, parent) = (stat(), stat())
            guard lstat(part, &own) == 0, stat(above, &parent) == 0 else { continue }
            if own.st_uid != geteuid(), own.st_uid != 0, parent.st_mode & 0o002 != 0 {
                throw ReportError(
                    use, part, reason: "it belongs to another user, in a folder that any user may write to")
            }
        }
    }

    /// Returns `a`, `a/b` and `a/b/c` for `a/b/c`, without the root.
    private static func ancestors(_ path: String) -> [String] {
        let parts = path.split(separator: "/").map(String.init)
        return parts.indices.map { (path.hasPrefix("/") ? "/" : "") + parts[...$0].joined(separator: "/") }
    }
}

/// Reports/latest: a symbolic link to the run that was started or resumed last.
public enum LatestLink {
    public static let name = "latest"

    /// Checks that `latest` can be set: an existing file or folder of that name is not removed.
    /// - Throws: `ReportError`.
    static func check(in root: String) throws {
        var status = stat()
        let path = root + "/" + name
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { return }
        throw ReportError("replace the link", path, reason: "it is no link; move it away")
    }

    /// Points `root/latest` to `runID`, as a relative link, in one atomic step.
    /// - Throws: `ReportError`, also if `latest` exists and is not a link.
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
