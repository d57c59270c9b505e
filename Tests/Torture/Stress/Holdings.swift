// What the process holds: descriptors when a run is over against when it began, and the heap with every commit.
import CStillingWellPlatform
import Foundation

enum Holdings {
    /// What is open, by what it is of: a path, whether or not its file is still there, or the kind of thing that has none.
    /// Not the descriptor that looks.
    static var openFiles: [String: Int] {
        var counts: [String: Int] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            // The one that looked is closed by now.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            else {
                continue
            }
            // A file that goes while it is open was open before, too.
            let gone = " (deleted)"
            counts[target.hasSuffix(gone) ? String(target.dropLast(gone.count)) : target, default: 0] += 1
        }
        return counts
    }

    /// Those that have been opened more often since, and by how many.
    static func filesSince(_ start: [String: Int]) -> [String: Int] {
        openFiles.reduce(into: [:]) { more, file in
            let added = file.value - (start[file.key] ?? 0)
            if added > 0 { more[file.key] = added }
        }
    }

    static var heapBytes: Int { Int(cp_heap_bytes()) }
}

/// The heap over a run. One thread.
struct HeapLine {
    private var samples: [(commits: Int, bytes: Int)] = []

    mutating func add(commits: Int) { samples.append((commits, Holdings.heapBytes)) }

    /// Bytes that a commit adds: the median of the run's last quarter less that of its second, over the commits between.
    /// Nil where there were too few looks, or commits, to say.
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
