// File system type of a folder, because the cost of a durable commit depends mostly on fsync.
import Foundation

/// Names of file systems.
public enum FileSystem {
    /// Returns a type such as `ext4`, `xfs`, `overlay` or `tmpfs`; `unknown` if it cannot be found out.
    public static func name(of folder: String) -> String {
        guard let resolved = realpath(folder, nil) else { return "unknown" }
        defer { free(resolved) }
        return name(of: String(cString: resolved), mountInfo: ProcFile.text("/proc/self/mountinfo") ?? "")
    }

    /// Returns the type of the innermost mount that contains `path` (absolute, without links). A line has the form
    /// `36 35 98:0 /root /mount/point options… - type source options`. Of two mounts at one place the later one
    /// counts.
    static func name(of path: String, mountInfo: String) -> String {
        var best = (depth: -1, type: "unknown")
        for line in mountInfo.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 4, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            // The kernel escapes blanks in octal.
            let point = fields[4].replacingOccurrences(of: "\\040", with: " ")
            let isInside = point == "/" || path == point || path.hasPrefix(point + "/")
            if isInside && point.utf8.count >= best.depth { best = (point.utf8.count, String(fields[dash + 1])) }
        }
        return best.type
    }
}
