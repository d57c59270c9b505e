// histograms/*.hlog: every recorded distribution in HdrHistogram's log format (version 1.3, V2 compressed payloads),
// readable by its tools. One file per trial. One line per metric, tagged with its name, and further lines for negative
// and for censored samples (`negatedSuffix`, `censoredSuffix`).
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Writes `histograms/` in the run's folder.
public final class HistogramLogs: ReportFormat {
    public static let folderName = "histograms"

    public init() {}

    public func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws {
        guard !recordings.histograms.isEmpty else { return }
        let folder = run.directory + "/" + Self.folderName
        try ReportFolder.make(folder)
        try ReportFile.replace(
            "\(folder)/\(Self.fileName(trial))", with: Self.text(recordings.histograms, of: trial).utf8)
    }

    /// Returns a name such as `result-size.stillingwell.dataset.items=1000.0.hlog`. Characters besides ASCII letters,
    /// digits and `-_.=;+` are encoded as `%XX`.
    static func fileName(_ trial: TrialKey) -> String {
        let words = [trial.scenario, trial.driver, trial.variant, "\(trial.trial)"].filter { !$0.isEmpty }
        let allowed = CharacterSet(charactersIn: "-_.=;+")
            .union(CharacterSet(charactersIn: "a"..."z")).union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9"))
        let encoded = words.map { $0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "_" }
        let joined = encoded.joined(separator: ".")
        // A name that begins with a dot would be hidden.
        let name = joined.hasPrefix(".") ? "_" + joined : joined
        // Names are limited to 255 bytes. Long ones are cut, with a hash to keep them unique.
        guard name.utf8.count > 200 else { return name + ".hlog" }
        let rest = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return name.prefix(180) + "." + String(rest, radix: 16) + ".hlog"
    }

    /// Returns the log of a trial. Times are in seconds from the start of the measured window. The format scales the
    /// third column by 10⁻⁶, so that a metric in ns shows its maximum in ms.
    static func text(_ histograms: [HistogramRecord], of trial: TrialKey) throws -> String {
        var text = """
            #[Histogram log format version 1.3]
            #[StartTime: 0.000 (seconds since epoch), the start of the measured window]
            #\(try JSONFile.text(trial))
            "StartTimestamp","Interval_Length","Interval_Max","HistogramPayload"

            """
        for histogram in histograms {
            let tag = histogram.metric.rawValue
            text += line(histogram, tag: tag, max: max(histogram.max, 0), histogram.samples)
            if let negated = histogram.negated {
                text += line(histogram, tag: tag + negatedSuffix, max: histogram.negatedMax ?? 0, negated)
            }
            if let bounds = histogram.bounds {
                text += line(histogram, tag: tag + censoredSuffix, max: max(histogram.max, 0), bounds)
            }
        }
        return text
    }

    private static let censoredSuffix = ".censored"
    /// Suffix of the tag of negative samples. They are stored as magnitudes, because the format has no negative values.
    private static let negatedSuffix = ".negated"

    private static func line(_ histogram: HistogramRecord, tag: String, max: Int64, _ payload: String) -> String {
        func seconds(_ ns: Int64) -> String { String(format: "%.3f", Double(ns) / 1e9) }
        let max = String(format: "%.3f", Double(max) / 1e6)
        return "Tag=\(tag),\(seconds(histogram.startNs)),\(seconds(histogram.lengthNs)),\(max),\(payload)\n"
    }

    /// The payloads of one metric.
    struct Samples: Sendable, Equatable {
        var text: String
        /// Magnitudes of the negative samples, or nil.
        var negated: String?
    }

    /// Reads a log: its trial and the payloads by metric, without the separate payloads of censored samples. Nil if it
    /// names no trial.
    static func read(_ text: String) -> (trial: TrialKey, samples: [Metric: Samples])? {
        let lines = text.split(separator: "\n")
        guard let key = lines.first(where: { $0.hasPrefix("#{") }),
            var trial = try? JSONDecoder().decode(TrialKey.self, from: Data(key.dropFirst().utf8))
        else { return nil }
        trial.variant = RenamedWords.variant(trial.variant)
        var samples: [Metric: Samples] = [:]
        for line in lines where line.hasPrefix("Tag=") {
            let fields = line.split(separator: ",")
            guard fields.count == 5 else { continue }
            let tag = fields[0].dropFirst(4)
            if let metric = Metric(recorded: String(tag)) {
                samples[metric] = Samples(text: String(fields[4]))
            } else if tag.hasSuffix(negatedSuffix),
                let metric = Metric(recorded: String(tag.dropLast(negatedSuffix.count)))
            {
                // This line directly follows the metric's own line.
                samples[metric]?.negated = String(fields[4])
            }
        }
        return (trial, samples)
    }
}
