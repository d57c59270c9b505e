// What the process holds: descriptors when a run is over against when it began, and the heap with every commit.
import CPlatform
import Glibc

enum Holdings {
    /// Descriptors that are open, but for the one that counts them.
    static var openFiles: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // The names are numbers, but for `.` and `..`.
            if entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        return count - 1
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
