// Resources of the process: descriptors at the end of a run compared with its start, and heap bytes per commit.
import CStillingWellPlatform
import Foundation

enum Holdings {
    /// Number of open descriptors by target: a path, or the kernel's name for a descriptor without one. The descriptor
    /// that reads the folder is not included.
    static var openFiles: [String: Int] {
        var counts: [String: Int] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            // The descriptor that read the folder is closed by now.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            else {
                continue
            }
            // A deleted file counts under its old path.
            let gone = " (deleted)"
            counts[target.hasSuffix(gone) ? String(target.dropLast(gone.count)) : target, default: 0] += 1
        }
        return counts
    }

    /// Targets that are open more often than at `start`, each with the difference.
    static func filesSince(_ start: [String: Int]) -> [String: Int] {
        openFiles.reduce(into: [:]) { more, file in
            let added = file.value - (start[file.key] ?? 0)
            if added > 0 { more[file.key] = added }
        }
    }

    static var heapBytes: Int { Int(cp_heap_bytes()) }
}

/// Heap size over a run. Used by one thread.
struct HeapLine {
    private var samples: [(commits: Int, bytes: Int)] = []

    mutating func add(commits: Int) { samples.append((commits, Holdings.heapBytes)) }

    /// Bytes that a commit adds to the heap: median of the last quarter of the run minus median of the second
    /// quarter, divided by the commits between them. nil if there are too few samples or commits.
    var bytesPerCommit: Int? {
        let quarter = samples.count / 4
        guard quarter >= 16 else { return nil }
        let early = Self.middle(samples[quarter..<2 * quarter])
        let late = Self.middle(samples[(3 * quarter)...])
        guard late.commits - early.commits >= Limits.fewestCommitsOfALine else { return nil }
        return (late.bytes - early.bytes) / (late.commits - early.commits)
    }

    private static func middle(_ part: ArraySlice<(commits: Int, bytes: Int)>) -> (commits: Int, bytes: Int) {
        let commits = part.map(\.commits).sorted()
        let bytes = part.map(\.bytes).sorted()
        return (commits[commits.count / 2], bytes[bytes.count / 2])
    }
}
