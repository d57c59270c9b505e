// Faults of the process's surroundings: slow flushes from the beginning on, and, at a given time of the window, steps
// of the wall clock, a full disk, or a killed observer. CTidegaugeFaults intercepts the C library for flushes and the
// clock.
import CTidegaugeFaults
import Foundation
import TidegaugeSpec

final class TimedFault: Companion {
    private var steps: ArraySlice<(atNs: Int64, body: () -> Void)>
    private let undo: () -> Void

    /// - Parameters:
    ///   - steps: actions and their offsets in ns from the start of the window. Each look performs at most one.
    ///   - undo: action to perform after the wait for deliveries.
    private init(_ steps: [(atNs: Int64, body: () -> Void)] = [], undo: @escaping () -> Void) {
        (self.steps, self.undo) = (steps[...], undo)
    }

    func look(_ sinceNs: Int64) { if let step = steps.first, sinceNs >= step.atNs { steps.removeFirst().body() } }

    func end(into findings: inout Findings) { undo() }

    /// Delays flushes from before the first commit on.
    static func slowFlushes(lengthNs: Int64) -> TimedFault {
        cf_set_flush_delay_ns(lengthNs)
        return TimedFault { cf_set_flush_delay_ns(0) }
    }

    /// Sets this process's wall clock one hour ahead for about 0.1 s, then one hour behind until the wait for
    /// deliveries has ended.
    static func clockStep(atNs: Int64) -> TimedFault {
        let hourNs: Int64 = 3_600_000_000_000
        return TimedFault([
            (atNs, { cf_step_wall_clock_ns(hourNs) }), (atNs + 100_000_000, { cf_step_wall_clock_ns(-hourNs) }),
        ]) { cf_step_wall_clock_ns(0) }
    }

    /// Limits the size of all files of this process. It needs neither a separate file system nor privileges, and the
    /// store sees what a full disk shows: failed writes.
    static func fullDisk(atNs: Int64, lengthNs: Int64, directory: String) -> TimedFault {
        let disk = FullDisk(directory: directory)
        return TimedFault([(atNs, disk.fill), (atNs + lengthNs, disk.makeRoom)], undo: disk.makeRoom)
    }

    /// Kills an observer in a process of its own while it watches. Other processes must not be affected, and the
    /// version that the observer held must not be retained. Returns when the observer watches.
    static func killedObserver(_ spec: TrialSpec, atNs: Int64, directory: String) throws -> TimedFault {
        let link = try HostLink(.here)
        _ = try link.awaitHello(binarySHA: nil)
        link.send(try HostFrame(.order, HostOrder(spec: spec, role: .observer, storeDirectory: directory)))
        _ = try link.expect(.ready, withinNs: HostLink.readyNs)
        let kill = try HostFrame(.fault, HostFault(kind: .kill, atNs: 0))
        return TimedFault([(atNs, { link.send(kill) })], undo: link.end)
    }
}

private final class FullDisk {
    private let directory: String
    private var before: rlimit?

    init(directory: String) {
        self.directory = directory
        // Ignores the signal, which would end the process; the write then fails as on a full disk.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Limits files to the size of the largest one in the store.
    func fill() {
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

    func makeRoom() {
        guard var limit = before else { return }
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        before = nil
    }
}
