// What this process holds at a moment: files and memory, as the kernel has it.
import Glibc

public enum ProcessHoldings {
    /// Descriptors that are open, without the one that this takes to count them; nil where /proc is not there.
    public static var openFiles: Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // The names are numbers, but for `.` and `..`.
            if entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        return count - 1
    }

    /// Soft limit of open files of this process (`ulimit -n`).
    public static var openFileLimit: Int {
        var limits = rlimit(rlim_cur: .max, rlim_max: .max)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return Int(clamping: limits.rlim_cur)
    }

    /// Anonymous memory that is resident: heap, stacks, the records of the harness; not the mapped pages of a file, which
    /// are the kernel's to keep or drop. Nil where /proc is not there.
    public static var residentBytes: Int? {
        guard let text = ProcFile.text("/proc/self/status") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
        }
        return nil
    }
}
