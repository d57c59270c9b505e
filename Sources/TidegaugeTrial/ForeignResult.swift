// Reads a result that another commit's binary wrote. Figures that only the other binary knows are kept by name.
// Histograms and series of unknown metrics are dropped. Top-level fields that it did not write have the values of an
// empty result.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec

/// A figure whose metric or statistic this binary does not know.
public struct ForeignFigure: Codable, Sendable, Equatable {
    public var metric: String
    public var statistic: String
    public var value: Double?
}

extension TrialResult {
    /// Reads a result of any version whose fields have the same meaning.
    /// - Throws: `TrialFault` if it is no JSON object, and errors of `JSONSerialization` and of the decoder.
    package static func readForeign(_ data: Data) throws -> TrialResult {
        let empty = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(TrialResult(fate: .completed)))
        let written = try JSONSerialization.jsonObject(with: data)
        guard var tree = empty as? [String: Any], let written = written as? [String: Any] else {
            throw TrialFault.refused("the result is no JSON object")
        }
        tree.merge(written) { _, new in new }
        let figures = tree["figures"] as? [[String: Any]] ?? []
        tree["figures"] = figures.filter(isKnown)
        let foreign = figures.filter { !isKnown($0) }
        tree["foreign"] = foreign
        if var recordings = tree["recordings"] as? [String: Any] {
            for key in ["histograms", "series"] {
                recordings[key] = (recordings[key] as? [[String: Any]] ?? []).filter {
                    ($0["metric"] as? String).map { Metric(recorded: $0) != nil } ?? false
                }
            }
            tree["recordings"] = recordings
        }
        return try JSONDecoder().decode(TrialResult.self, from: try JSONSerialization.data(withJSONObject: tree))
    }

    private static func isKnown(_ figure: [String: Any]) -> Bool {
        guard let metric = figure["metric"] as? String, let statistic = figure["statistic"] as? String else {
            return false
        }
        return Metric(recorded: metric) != nil && Statistic(rawValue: statistic) != nil
    }
}
