// Files and memory that this process holds.
import Glibc

public enum ProcessHoldings {
    /// Number of open descriptors, without the one used for counting; nil if /proc cannot be read.
    public static var openFiles: Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // All names are numbers, except `.` and `..`.
            if entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        return count - 1
    }

    /// Soft limit of open files (`ulimit -n`).
    public static var openFileLimit: Int {
        var limits = rlimit(rlim_cur: .max, rlim_max: .max)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return Int(clamping: limits.rlim_cur)
    }

    /// Resident anonymous memory: heap, stacks and records of the harness, but not mapped file pages, which the
    /// kernel may drop. Nil if the kernel does not report it.
    public static var residentBytes: Int? {
        guard let text = ProcFile.text("/proc/self/status") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
        }
        return nil
    }
}
