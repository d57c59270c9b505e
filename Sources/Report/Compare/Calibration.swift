// What is known of a machine: how noisy each gate is on it, and how late it wakes threads. Stored beside the reports, a file
// per kind of machine.
import Foundation
import Measure

public struct Calibration: Codable, Sendable, Equatable {
    public static let folderName = "calibration"

    public struct Gate: Codable, Sendable, Equatable {
        public var scenario: String
        public var driver: String
        public var metric: String
        public var statistic: String
        /// Standard deviation of a pair's logarithm.
        public var sigma: Double
        public var threshold: Double
        public var secondsPerPair: Double
        public var pairs: Int

        public init(
            scenario: String, driver: String, metric: String, statistic: String, sigma: Double, threshold: Double,
            secondsPerPair: Double, pairs: Int
        ) {
            self.scenario = scenario
            self.driver = driver
            self.metric = metric
            self.statistic = statistic
            self.sigma = sigma
            self.threshold = threshold
            self.secondsPerPair = secondsPerPair
            self.pairs = pairs
        }
    }

    public var machine: String
    public var hiccupP99Ns: Double
    public var gates: [Gate]
    /// Null comparisons, and how many of them called something a regression.
    public var comparisons: Int
    public var falseReds: Int
    /// One p-value per null comparison and gate.
    public var pValues: [Double]

    public init(
        machine: String, hiccupP99Ns: Double, gates: [Gate], comparisons: Int, falseReds: Int, pValues: [Double]
    ) {
        self.machine = machine
        self.hiccupP99Ns = hiccupP99Ns
        self.gates = gates
        self.comparisons = comparisons
        self.falseReds = falseReds
        self.pValues = pValues
    }

    /// Of this kind of machine; nil where none was made, or it cannot be read.
    public static func ofThisMachine(_ root: String) -> Calibration? {
        FileManager.default.contents(atPath: path(root)).flatMap { try? JSONDecoder().decode(Self.self, from: $0) }
    }

    public static func path(_ root: String) -> String { "\(root)/\(folderName)/\(MachineKey.current).json" }

    /// - Throws: `ReportError`.
    public func write(_ root: String) throws {
        try FileManager.default.createDirectory(atPath: "\(root)/\(Self.folderName)", withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try ReportFile.replace(Self.path(root), with: try encoder.encode(self))
    }
}
