// Disturbances by the machine, from counters of the kernel. Counters only increase, so a window is the difference of
// two readings.
import Glibc

/// Counters at one time or, as a difference, in a window. For the whole machine unless stated otherwise. `nil` if the
/// kernel does not report them.
public struct Pressure: Codable, Sendable, Equatable {
    /// Time that the hypervisor ran other machines, over all CPUs.
    public var stealNs: Int64?
    /// Time in which at least one task waited for a CPU.
    public var cpuSomeNs: Int64?
    /// Time in which at least one task waited for memory.
    public var memorySomeNs: Int64?
    /// Time in which all tasks that were not idle waited for memory.
    public var memoryFullNs: Int64?
    /// Time in which at least one task waited for a disk.
    public var ioSomeNs: Int64?
    /// Time in which all tasks that were not idle waited for a disk.
    public var ioFullNs: Int64?
    /// Number of preemptions of this process and its reaped children.
    public var involuntarySwitches: Int64
    /// Number of times that this process and its reaped children gave up their CPU themselves.
    public var voluntarySwitches: Int64
    /// Number of page faults of this process and its reaped children that waited for a disk.
    public var majorFaults: Int64

    /// Lower bound of the stolen time. The kernel reports whole ticks, and one of the difference may be from before
    /// the window.
    public var stealAtLeastNs: Int64? {
        let ticksPerSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return stealNs.map { max(0, $0 - (ticksPerSecond > 0 ? 1_000_000_000 / ticksPerSecond : 0)) }
    }

    /// Returns the difference from `earlier` to this reading.
    public func since(_ earlier: Pressure) -> Pressure {
        var window = self
        let times: [WritableKeyPath<Pressure, Int64?>] = [
            \.stealNs, \.cpuSomeNs, \.memorySomeNs, \.memoryFullNs, \.ioSomeNs, \.ioFullNs,
        ]
        for time in times {
            let before = earlier[keyPath: time]
            window[keyPath: time] = self[keyPath: time].flatMap { now in before.map { now - $0 } }
        }
        let counts: [WritableKeyPath<Pressure, Int64>] = [\.involuntarySwitches, \.voluntarySwitches, \.majorFaults]
        for count in counts { window[keyPath: count] -= earlier[keyPath: count] }
        return window
    }
}

/// Reads the counters of disturbances.
public enum PressureProbe {
    /// Number of processors that the kernel's times are summed over; a process may be restricted to fewer.
    public static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    public static func read() -> Pressure {
        var own = rusage()
        var children = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &own)
        getrusage(Int32(RUSAGE_CHILDREN.rawValue), &children)
        let memory = stalls("/proc/pressure/memory")
        let io = stalls("/proc/pressure/io")
        return Pressure(
            stealNs: ProcFile.text("/proc/stat").flatMap {
                parseStealNs($0, ticksPerSecond: Int64(sysconf(Int32(_SC_CLK_TCK))))
            },
            cpuSomeNs: stalls("/proc/pressure/cpu").some, memorySomeNs: memory.some, memoryFullNs: memory.full,
            ioSomeNs: io.some, ioFullNs: io.full, involuntarySwitches: Int64(own.ru_nivcsw + children.ru_nivcsw),
            voluntarySwitches: Int64(own.ru_nvcsw + children.ru_nvcsw),
            majorFaults: Int64(own.ru_majflt + children.ru_majflt))
    }

    static func parseStealNs(_ stat: String, ticksPerSecond: Int64) -> Int64? {
        guard let fields = ProcFile.processorTicks(stat), fields.count >= 8, ticksPerSecond > 0 else { return nil }
        return fields[7] * (1_000_000_000 / ticksPerSecond)
    }

    /// Parses `total=` in the lines `some` and `full`, which is in µs.
    static func parseStallsNs(_ text: String) -> (some: Int64?, full: Int64?) {
        func total(_ kind: String) -> Int64? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(kind) }
            let field = line?.split(separator: " ").first { $0.hasPrefix("total=") }
            return field.flatMap { Int64($0.dropFirst("total=".count)) }.map { $0 * 1_000 }
        }
        return (total("some"), total("full"))
    }

    private static func stalls(_ path: String) -> (some: Int64?, full: Int64?) {
        ProcFile.text(path).map(parseStallsNs) ?? (nil, nil)
    }
}
