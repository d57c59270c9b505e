// Reads run times and waiting times of threads from /proc. Costs about 40 µs per thread, so it is not for the measured
// part of a trial.
import Foundation
import Glibc

public enum RunQueueProbe {
    /// Returns nil if the kernel keeps no such statistics.
    /// - Parameter isOwn: returns whether a thread of this process, given by ID and name, belongs to the trial, not the
    ///   harness.
    public static func read(isOwn: (Int32, String) -> Bool) -> RunQueueReading? {
        let ticksPerSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
        guard let machineNs = ProcFile.text("/proc/stat").flatMap({ parseBusyNs($0, ticksPerSecond: ticksPerSecond) })
        else { return nil }
        var threads: [Int32: RunQueueReading.Thread] = [:]
        var helpers: [Int32] = []
        var isKept = false
        for id in ids("/proc/self/task") {
            let folder = "/proc/self/task/\(id)"
            helpers += (ProcFile.text("\(folder)/children") ?? "").split(separator: " ").compactMap { Int32($0) }
            guard let stat = schedstat("\(folder)/schedstat") else { continue }
            isKept = true
            if isOwn(id, ProcFile.word("\(folder)/comm") ?? "") {
                threads[id] = .init(ranNs: stat.ranNs, waitedNs: stat.waitedNs)
            }
        }
        for helper in helpers {
            for id in ids("/proc/\(helper)/task") {
                if let stat = schedstat("/proc/\(helper)/task/\(id)/schedstat") {
                    threads[id] = .init(ranNs: stat.ranNs, waitedNs: stat.waitedNs, isHelper: true)
                }
            }
        }
        guard isKept else { return nil }
        return RunQueueReading(
            threads: threads, processNs: CPUProbe.processNs(), machineNs: machineNs,
            resolutionNs: Int64(PressureProbe.cores) * 1_000_000_000 / max(ticksPerSecond, 1))
    }

    private static func ids(_ folder: String) -> [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int32($0) }
    }

    private static func schedstat(_ path: String) -> (ranNs: Int64, waitedNs: Int64)? {
        ProcFile.text(path).flatMap(parseSchedstat)
    }

    /// Parses time on a processor and time in a run queue, both in ns. The third field is the number of time slices.
    static func parseSchedstat(_ text: String) -> (ranNs: Int64, waitedNs: Int64)? {
        let fields = text.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        return fields.count == 3 ? (fields[0], fields[1]) : nil
    }

    /// Sums all ticks but those of idle, iowait and steal, in ns.
    static func parseBusyNs(_ stat: String, ticksPerSecond: Int64) -> Int64? {
        guard let fields = ProcFile.processorTicks(stat), fields.count >= 7, ticksPerSecond > 0 else { return nil }
        return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) * (1_000_000_000 / ticksPerSecond)
    }
}
