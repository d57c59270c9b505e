// Properties of machine, build and time that figures depend on, stored as environment.json.
import Foundation
import TidegaugeSpec

/// The build and the machine of a measurement.
public struct EnvironmentReport: Codable, Sendable, Equatable {
    public static let currentVersion = 1

    public var schemaVersion = EnvironmentReport.currentVersion

    // The build.
    /// Full commit hash, or `unknown` if git fails.
    public var commit: String
    /// Whether the working tree differed from the commit; false if git fails.
    public var dirty: Bool
    /// Compiler such as `Swift 6.3` or `Swift 6.4 or later`, as precise as a program can know at build time.
    public var compiler: String
    /// `release` or `debug`, with `+sanitizer` if jemalloc is not linked.
    public var buildConfiguration: String
    public var countsAllocations: Bool

    // The machine.
    public var cpuModel: String
    /// Cores this process may run on.
    public var cores: Int
    public var memoryBytes: Int64
    public var kernel: String
    public var architecture: String
    public var clocksource: String
    /// Frequency governor of the first core, or `none`.
    public var governor: String
    /// Hypervisor and `container`, as far as detected, or `none`.
    public var virtualisation: String
    /// Boot ID of the kernel.
    public var bootID: String

    // The moment.
    /// Load averages over 1, 5 and 15 minutes.
    public var loadAverage: [Double]
    /// Load before the first trial; nil until `begin` sets it.
    public var startLoad: StartLoad?
    /// Readings of the yardsticks before the first and after the last trial; nil until `begin` takes them.
    public var yardsticks: [Yardstick: YardstickReading]?
    /// File system type by folder of stores.
    public var storeFileSystems: [String: String]
    public var pressureBefore: Pressure
    /// `nil` before the end of the run.
    public var pressureAfter: Pressure?

    /// Reads everything that `begin` and `finish` do not add. It reads about a dozen small files and runs `git` twice,
    /// so it is not called while something is measured.
    /// - Parameters:
    ///   - storeDirectories: existing folders for stores.
    ///   - repository: folder in the working tree whose commit is reported.
    public static func capture(storeDirectories: [String], repository: String = ".") -> EnvironmentReport {
        let revision = GitRevision.read(in: repository)
        return EnvironmentReport(
            commit: revision?.commit ?? "unknown", dirty: revision?.dirty ?? false, compiler: BuildFacts.compiler,
            buildConfiguration: BuildFacts.configuration, countsAllocations: AllocationProbe.isAvailable,
            cpuModel: MachineFacts.cpuModel(), cores: MachineFacts.usableCores(),
            memoryBytes: Int64(ProcessInfo.processInfo.physicalMemory), kernel: MachineFacts.kernel(),
            architecture: MachineFacts.architecture(),
            clocksource: ProcFile.word("/sys/devices/system/clocksource/clocksource0/current_clocksource") ?? "unknown",
            governor: ProcFile.word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "none",
            virtualisation: MachineFacts.virtualisation(),
            bootID: ProcFile.word("/proc/sys/kernel/random/boot_id") ?? "unknown",
            loadAverage: MachineFacts.loadAverage(),
            storeFileSystems: Dictionary(
                storeDirectories.map { ($0, FileSystem.name(of: $0)) }, uniquingKeysWith: { first, _ in first }),
            pressureBefore: PressureProbe.read(), pressureAfter: nil)
    }

    /// Adds the state right before the first trial.
    /// - Parameter yardstickNs: measures a yardstick.
    public mutating func begin(
        _ load: StartLoad, yardstickNs: (Yardstick) throws -> Double = YardstickProbe.readNs
    ) {
        startLoad = load
        yardsticks = Dictionary(
            uniqueKeysWithValues: Yardstick.allCases.map { one in (one, YardstickReading { try yardstickNs(one) }) })
    }

    /// Adds the pressure at the end of the run and, if `begin` was called, the second readings of the yardsticks.
    public mutating func finish(yardstickNs: (Yardstick) throws -> Double = YardstickProbe.readNs) {
        for one in Yardstick.allCases { yardsticks?[one]?.end { try yardstickNs(one) } }
        pressureAfter = PressureProbe.read()
    }

    /// Content of environment.json. Keys are sorted, so that reports can be compared by line.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
