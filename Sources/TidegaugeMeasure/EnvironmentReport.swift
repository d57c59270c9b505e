// Everything about the machine, the build and the moment that a figure may depend on; stands beside every result as
// environment.json. It only describes: no figure is corrected by it.
import Foundation
import TidegaugeSpec

/// What was measured with, and on what.
public struct EnvironmentReport: Codable, Sendable, Equatable {
    public static let currentVersion = 1

    public var schemaVersion = EnvironmentReport.currentVersion

    // The build.
    /// Full hash, or `unknown` outside a repository.
    public var commit: String
    /// Whether the working tree differed from the commit.
    public var dirty: Bool
    /// Such as `Swift 6.1 or later`: as near as the compiler tells a program at build time.
    public var compiler: String
    /// `release` or `debug`, with `+sanitizer` where the build left jemalloc out for one.
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
    /// Frequency governor of the first core, or `none` where the machine has no say in it.
    public var governor: String
    /// `none`, or what is known of the hypervisor; with `container` where one shows.
    public var virtualisation: String
    /// Changes with every boot: runs of one boot saw one kernel state.
    public var bootID: String

    // The moment.
    /// Over 1, 5 and 15 minutes.
    public var loadAverage: [Double]
    /// What else ran before the first trial; nil of a comparison.
    public var startLoad: StartLoad?
    /// All of them, before the first trial and behind the last; nil of a comparison.
    public var yardsticks: [Yardstick: YardstickReading]?
    /// Name of the file system by folder that stores were put in.
    public var storeFileSystems: [String: String]
    public var pressureBefore: Pressure
    /// `nil` while the run goes on.
    public var pressureAfter: Pressure?

    /// Looks at everything now. Reads a dozen small files and asks `git` twice: for before a run.
    /// - Parameters:
    ///   - storeDirectories: Existing folders that stores will be put in.
    ///   - repository: A folder of the working tree whose commit is reported.
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

    /// Adds what a run finds out right before its first trial.
    /// - Parameter yardstickNs: takes a yardstick.
    public mutating func begin(
        _ load: StartLoad, yardstickNs: (Yardstick) throws -> Double = YardstickProbe.readNs
    ) {
        startLoad = load
        yardsticks = Dictionary(
            uniqueKeysWithValues: Yardstick.allCases.map { one in (one, YardstickReading { try yardstickNs(one) }) })
    }

    /// Adds the counters at the end of the run, and the yardsticks that were taken at its start once more.
    public mutating func finish(yardstickNs: (Yardstick) throws -> Double = YardstickProbe.readNs) {
        for one in Yardstick.allCases { yardsticks?[one]?.end { try yardstickNs(one) } }
        pressureAfter = PressureProbe.read()
    }

    /// As it stands in environment.json: keys sorted, so that two reports can be compared line by line.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
