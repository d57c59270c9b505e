// Ratios of latency, CPU and instructions between a run's main engine and each other engine. A pair is the same point
// and repetition on both. Pairs are combined by the Hodges–Lehmann location of the logarithms of their ratios, with its
// exact 95 % interval. Pure.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

struct EngineRatios: Equatable {
    /// Ratio of another engine's figure to the main engine's.
    struct Ratio: Equatable {
        var metric: Metric
        /// The other's figure ÷ the main engine's: above 1 the main engine is faster or cheaper.
        var times: Double
        /// 95 % interval; nil with fewer than six pairs, for which `least` and `most` are shown.
        var interval: ClosedRange<Double>?
        var least: Double
        var most: Double
        var count: Int
    }

    struct Peer: Equatable {
        var driver: String
        var ratios: [Ratio]
    }

    var scenario: String
    var engine: String
    var peers: [Peer]

    /// Metrics to compare, in the order of display, if measured.
    static let metrics: [Metric] = [
        .endToEndLatency, .upkeepCost, .writerInstructions, .upkeepInstructions, .observerInstructions,
    ]

    /// Ratios for each scenario with several engines, except interleaving tests and scenarios about the harness.
    static func all(_ record: RunRecord) -> [EngineRatios] {
        let own = SubjectFigures(record).driver
        return record.scenarioNames.compactMap { name in
            guard let gate = record.scenario(name)?.gate, gate.entry.subject != .harness, gate != .interleavingTestTime
            else { return nil }
            let rows = record.rows.filter { $0.scenario == name && $0.variant != RunRow.overSweep }
            // Drivers that do nothing measure the harness and are not engines.
            let others = Digest.inOrder(rows.map(\.driver)).filter { $0 != own && !record.header.isEmpty($0) }
            let peers = others.compactMap { peer -> Peer? in
                let ratios = metrics.compactMap { ratio($0, rows, own, peer) }
                return ratios.isEmpty ? nil : Peer(driver: peer, ratios: ratios)
            }
            return peers.isEmpty ? nil : EngineRatios(scenario: name, engine: own, peers: peers)
        }
    }

    /// The ratio of a metric over all points and repetitions that both drivers measured; nil if there are none.
    static func ratio(_ metric: Metric, _ rows: [RunRow], _ own: String, _ peer: String) -> Ratio? {
        struct Place: Hashable { var variant: String, trial: Int }
        func values(_ driver: String) -> [Place: Double] {
            let meant = rows.filter {
                $0.driver == driver && $0.figure.metric == metric
                    && $0.figure.statistic.rawValue == metric.defaultStatistic
            }
            // Values ≤ 0 have no ratio.
            return Dictionary(
                meant.compactMap { row in
                    row.figure.value.flatMap { $0 > 0 ? (Place(variant: row.variant, trial: row.trial), $0) : nil }
                }, uniquingKeysWith: { first, _ in first })
        }
        let (mine, others) = (values(own), values(peer))
        let logarithms = mine.compactMap { place, value in others[place].map { log($0 / value) } }.sorted()
        guard let location = HodgesLehmann.location(logarithms), let least = logarithms.first,
            let most = logarithms.last
        else { return nil }
        let interval = LocationInterval.twoSided(logarithms, confidence: 0.95)
        return Ratio(
            metric: metric, times: exp(location), interval: interval.map { exp($0.low)...exp($0.high) },
            least: exp(least), most: exp(most), count: logarithms.count)
    }

    // MARK: Words

    /// Text lines such as `grdb-pool against stillingwell: 8.2× slower at p50 (5.1 … 14), 18× more CPU (9.0 … 31), 95 %
    /// interval over 7 pairs`.
    var lines: [String] {
        peers.map { "\($0.driver) against \(engine): \(Self.text($0.ratios.map(\.reversed)))" }
    }

    /// The first ratio to each peer: `stillingwell is 8.2× faster at p50 than grdb-pool, 1.2× slower at p50 than keel`.
    /// If it is a cost or a count: `stillingwell: 3.0× less CPU than grdb-pool`.
    var sentence: String {
        let parts = peers.compactMap { peer in peer.ratios.first.map { "\($0.factorText) than \(peer.driver)" } }
        let areTimes = peers.allSatisfy { $0.ratios.first?.metric == .endToEndLatency }
        return "\(engine)\(areTimes ? " is" : ":") \(parts.joined(separator: ", "))"
    }

    /// Describes ratios of the same two engines. States the number of pairs once if all have the same.
    static func text(_ ratios: [Ratio]) -> String {
        guard let count = ratios.first?.count, ratios.allSatisfy({ $0.count == count }) else {
            return ratios.map { "\($0.text)\($0.pairsText)" }.joined(separator: "; ")
        }
        return ratios.map(\.text).joined(separator: ", ") + ratios[0].pairsText
    }

    static let note =
        "A ratio compares trials of the same point and repetition: by end_to_end_latency p50, upkeep_cost or instructions "
        + "per commit. In brackets: 95 % interval, or the range (min … max) of fewer than six pairs. One pair has neither."
}

extension EngineRatios.Ratio {
    /// The engine against the other: `8.2× faster at p50`.
    var factorText: String {
        let known = [Metric.endToEndLatency: ("faster", "slower"), .upkeepCost: ("less CPU", "more CPU")]
        let statistic = metric.defaultStatistic == Statistic.value.rawValue ? "" : " at \(metric.defaultStatistic)"
        let name = metric.rawValue.replacing("_", with: " ")
        let (better, worse) = known[metric] ?? ("fewer \(name)", "more \(name)")
        return "\(Self.factor(isBetter ? times : 1 / times))× \(isBetter ? better : worse)\(statistic)"
    }

    /// The engine against the other, with its range: `8.2× faster at p50 (5.1 … 14)`. A single pair has no range.
    var text: String {
        guard count > 1 else { return factorText }
        let ends = interval ?? least...most
        let shown = isBetter ? ends : (1 / ends.upperBound)...(1 / ends.lowerBound)
        return "\(factorText) (\(Self.factor(shown.lowerBound)) … \(Self.factor(shown.upperBound)))"
    }

    /// Follows `text` and says what its range is: `, 95 % interval over 7 pairs`.
    var pairsText: String {
        guard count > 1 else { return " (1 pair, no interval)" }
        return ", \(interval == nil ? "range" : "95 % interval") over \(count) pairs"
    }

    private var isBetter: Bool { times >= 1 }

    /// The other against the engine: `8.2× slower at p50 (5.1 … 14), 95 % interval over 7 pairs`.
    var reversed: EngineRatios.Ratio {
        var other = self
        other.times = 1 / times
        other.interval = interval.map { 1 / $0.upperBound...1 / $0.lowerBound }
        (other.least, other.most) = (1 / most, 1 / least)
        return other
    }

    /// Formats a ratio to one decimal below 10, else to two significant digits: `8.2`, `18`, `1,400`.
    private static func factor(_ value: Double) -> String {
        value < 10 ? String(format: "%.1f", value) : Humanised.grouped(Int(nearest: rounded(value)))
    }

    private static func rounded(_ value: Double) -> Double {
        let scale = pow(10, floor(log10(value)) - 1)
        return (value / scale).rounded() * scale
    }
}
