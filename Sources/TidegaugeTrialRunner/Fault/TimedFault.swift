// Faults that are on from a moment of the window until another, and off at its end at the latest: flushes that take their time,
// a wall clock that is set forward and back, a disk without room, an observer that is killed. What is between the program and
// the C library stands in CTidegaugeFaults.
import CTidegaugeFaults
import Foundation
import TidegaugeSpec

final class TimedFault: Companion {
    private var steps: ArraySlice<(atNs: Int64, body: () -> Void)>
    private let undo: () -> Void

    /// - Parameters:
    ///   - steps: what is done, and when, from the start of the window; one at each look at most.
    ///   - undo: what is done when everything has been delivered.
    private init(_ steps: [(atNs: Int64, body: () -> Void)] = [], undo: @escaping () -> Void) {
        (self.steps, self.undo) = (steps[...], undo)
    }

    func look(_ sinceNs: Int64) { if let step = steps.first, sinceNs >= step.atNs { steps.removeFirst().body() } }

    func end(into findings: inout Findings) { undo() }

    /// From before the first commit on.
    static func slowFlushes(lengthNs: Int64) -> TimedFault {
        cf_set_flush_delay_ns(lengthNs)
        return TimedFault { cf_set_flush_delay_ns(0) }
    }

    /// A wall clock that is an hour ahead for a tenth of a second, and an hour behind from then on.
    static func clockStep(atNs: Int64) -> TimedFault {
        let hourNs: Int64 = 3_600_000_000_000
        return TimedFault([
            (atNs, { cf_step_wall_clock_ns(hourNs) }), (atNs + 100_000_000, { cf_step_wall_clock_ns(-hourNs) }),
        ]) { cf_step_wall_clock_ns(0) }
    }

    /// No file of this process may grow. It needs no file system of its own and no rights, and a store sees what it would see:
    /// writes that are refused.
    static func fullDisk(atNs: Int64, lengthNs: Int64, directory: String) -> TimedFault {
        let disk = FullDisk(directory: directory)
        return TimedFault([(atNs, disk.fill), (atNs + lengthNs, disk.makeRoom)], undo: disk.makeRoom)
    }

    /// An observer in a process of its own that is killed while it watches: nobody else may notice, and the version it stood at
    /// must not be kept for it. Returns when it watches.
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
        // The signal would end the process; without it the write fails, as it does where a disk is full.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// No file grows beyond the longest that the store has.
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
