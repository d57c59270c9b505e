// Calibration of a machine: noise of each gate (the figure by which commits are compared), share of false alarms when
// a binary is compared with itself (a null comparison), and share of injected slowdowns that are detected. Stored
// beside the reports, in files named by the kind of machine.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeStatistics

public struct Calibration: Codable, Sendable, Equatable {
    public static let folderName = "calibration"

    /// Noise of a gate's figure, or of another figure that describes the machine.
    public struct Noise: Codable, Sendable, Equatable {
        public var scenario: String
        public var driver: String
        public var name: FigureName
        public var isGate: Bool
        /// Standard deviation of the pairs' changes, estimated by the median absolute deviation. A change is the
        /// logarithm of a ratio, or a difference for figures without ratios.
        public var sigma: Double
        public var secondsPerPair: Double
        public var pairs: Int
    }

    /// Comparisons with an injected slowdown of known size in the head.
    public struct Power: Codable, Sendable, Equatable {
        public var shim: String
        public var comparisons: Int
        /// Number of comparisons that reported a regressed gate.
        public var called: Int
        /// Figures that were reported as moved in most comparisons.
        public var seenBy: [String]
        public var secondsPerComparison: Double
        /// Number of comparisons with too many void pairs (disturbed by the machine); nil in files of older versions.
        public var noisy: Int?
    }

    public var machine: String
    public var hiccupP99Ns: Double
    public var noise: [Noise]
    /// Number of null comparisons, of which `falseReds` reported a regression.
    public var comparisons: Int
    public var falseReds: Int
    /// Number of null comparisons with more void pairs than `compare` accepts; nil in files of older versions.
    public var noisy: Int?
    /// p-values of the screening stage, at most one per null comparison and gate.
    public var pValues: [Double]
    public var power: [Power] = []

    /// - Parameter nulls: comparisons of a binary with itself. No two share a pair.
    public init(machine: String = MachineKey.current, nulls: [ComparisonEngine]) {
        self.machine = machine
        noisy = Self.noisy(nulls)
        comparisons = nulls.count
        falseReds = nulls.count { $0.tracks.contains { $0.state == .confirmed } }
        pValues = nulls.flatMap { $0.tracks.compactMap { $0.screenEffect?.pWorse } }
        let subjects = nulls.first?.plan.subjects ?? []
        let pairs = subjects.indices.map { index in
            nulls.flatMap { $0.tracks[index].screen + $0.tracks[index].confirm }
        }
        let trials = pairs.joined().flatMap { $0.points.flatMap { [$0.base, $0.head] } }
        hiccupP99Ns = median(trials.compactMap { $0.noise?.hiccupP99Ns }.map(Double.init)) ?? 0
        noise = subjects.indices.flatMap { index -> [Noise] in
            let gate = nulls[0].tracks[index].gate
            return ([gate] + Self.alwaysMeasured.filter { $0 != gate }).compactMap { name in
                let good = nulls.flatMap { $0.tracks[index].goodPairs(for: name) }
                let worsening = good.compactMap { $0.worsening(name) }
                guard worsening.count == good.count, let sigma = medianAbsoluteDeviation(worsening) else { return nil }
                return Noise(
                    scenario: subjects[index].scenario, driver: subjects[index].driver, name: name,
                    isGate: name == gate, sigma: sigma,
                    secondsPerPair: median(pairs[index].map(\.lengthSeconds)) ?? 0, pairs: worsening.count)
            }
        }
    }

    /// Figures besides the gates that describe the machine.
    static let alwaysMeasured = [
        FigureName("process_cpu", "value"), FigureName("write_service_time", "p50"),
        FigureName("end_to_end_latency", "p50"), FigureName("end_to_end_latency", "p99"),
    ]

    /// Number of comparisons with more void pairs than `compare` accepts. The plan of a calibration accepts more.
    private static func noisy(_ comparisons: [ComparisonEngine]) -> Int {
        comparisons.count { comparison in
            comparison.tracks.contains { track in
                track.voids.count
                    > VoidRule().mostVoids(pairs: max(track.screen.count + track.confirm.count, comparison.plan.pairs))
            }
        }
    }

    public mutating func add(_ shim: String, _ comparisons: [ComparisonEngine]) {
        let rows = comparisons.map { Judge($0).rows().filter { $0.verdict == .regressed || $0.verdict == .shifted } }
        let seen = Dictionary(grouping: rows.flatMap { Set($0.map(\.name.description)) }) { $0 }.mapValues(\.count)
        let inMost = seen.filter { 2 * $0.value > comparisons.count }
        power.append(
            Power(
                shim: shim, comparisons: comparisons.count,
                called: comparisons.count { $0.tracks.contains { $0.state == .confirmed } },
                seenBy: inMost.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) (\($0.value))" },
                secondsPerComparison: median(comparisons.map(\.spentSeconds)) ?? 0, noisy: Self.noisy(comparisons)))
    }

    /// Upper 95 % bound of the rate of false alarms.
    public var falseRedBound: Double { ClopperPearson.upperBound(hits: falseReds, trials: max(comparisons, 1)) }

    /// Sensitivity as text: `can see +3.0 % on process_cpu, +12.0 % on end_to_end_latency p99, in 5 minutes for a
    /// scenario`. Medians over the entries of `noise`.
    public var fitness: String {
        let seconds = 300.0
        let sights = Self.alwaysMeasured.compactMap { name -> String? in
            let effects = noise.filter { $0.name == name && $0.secondsPerPair > 0 }.compactMap { noise in
                DetectableEffect().effect(
                    sigma: noise.sigma, pairs: Int(nearest: (seconds / noise.secondsPerPair).rounded(.down)))
            }
            return median(effects).map { "\(ComparedCells.share(Foundation.exp($0) - 1)) on \(name)" }
        }
        return sights.isEmpty
            ? "nothing was measured" : "can see " + sights.joined(separator: ", ") + ", in 5 minutes for a scenario"
    }

    // MARK: Files

    /// Reads the calibration of this kind of machine. Returns nil if there is none or it is not valid.
    public static func ofThisMachine(_ root: String) -> Calibration? {
        let kept = FileManager.default.contents(atPath: path(root)).flatMap {
            try? JSONDecoder().decode(Self.self, from: $0)
        }
        return kept.flatMap { $0.isPlausible ? $0 : nil }
    }

    private var isPlausible: Bool {
        let times = [hiccupP99Ns] + noise.flatMap { [$0.sigma, $0.secondsPerPair] } + power.map(\.secondsPerComparison)
        return times.allSatisfy(Figure.isPlausible) && pValues.allSatisfy { 0...1 ~= $0 }
            && 0...Self.mostComparisons ~= comparisons && 0...comparisons ~= falseReds
            && power.allSatisfy { 0...Self.mostComparisons ~= $0.comparisons && 0...$0.comparisons ~= $0.called }
    }

    /// Upper limit of plausible counts.
    private static let mostComparisons = 1_000_000

    public static func path(_ root: String) -> String { "\(root)/\(folderName)/\(MachineKey.current).json" }

    /// Writes the machine's file and its page.
    /// - Returns: path of the page.
    public func write(_ root: String) throws -> String {
        try ReportFolder.make("\(root)/\(Self.folderName)")
        try ReportFile.replace(Self.path(root), with: JSONFile.text(self, isPretty: true).utf8)
        let page = "\(root)/\(Self.folderName)/\(machine).html"
        try ReportFile.replace(page, with: CalibrationPage.render(self).utf8)
        return page
    }
}
