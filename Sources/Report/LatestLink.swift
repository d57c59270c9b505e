// Reports/latest: a symbolic link to the run that was started last.
import Foundation

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
