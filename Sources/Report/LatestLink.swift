// Reports/latest: a symbolic link to the run that was started last.
import Foundation

public enum LatestLink {
    public static let name = "latest"

    /// Points `root/latest` to `runID`, relative to it, in one step: there is never a moment without a link.
    /// - Throws: `ReportError`, also where something that is no link stands in its place.
    public static func point(to runID: String, in root: String) throws {
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
