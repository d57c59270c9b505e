// A disk without room for more: no file of this process may grow for a while. It needs no file system of its own and no
// rights, and a store sees what it would see: writes that are refused.
import Foundation

/// The conducting thread.
final class FullDisk: Companion {
    /// From the start of the window.
    private let atNs: Int64
    private let lengthNs: Int64
    private let directory: String
    private var before: rlimit?
    private var isOver = false

    init(atNs: Int64, lengthNs: Int64, directory: String) {
        (self.atNs, self.lengthNs, self.directory) = (atNs, lengthNs, directory)
        // The signal would end the process; without it the write fails, as it does where a disk is full.
        signal(SIGXFSZ, SIG_IGN)
    }

    func look(_ sinceNs: Int64) {
        if before == nil, !isOver, sinceNs >= atNs { fill() }
        if before != nil, sinceNs >= atNs + lengthNs { makeRoom() }
    }

    func end(into findings: inout Findings) { makeRoom() }

    /// No file grows beyond the longest that the store has.
    private func fill() {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        let longest =
            files.compactMap { file -> UInt? in
                var status = stat()
                return stat("\(directory)/\(file)", &status) == 0 ? UInt(status.st_size) : nil
            }.max() ?? 0
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        before = limit
        limit.rlim_cur = min(longest, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    private func makeRoom() {
        guard var limit = before else { return }
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        before = nil
        isOver = true
    }
}
