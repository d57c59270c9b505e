// Findings: failed trials, limits that are broken or not judged, and figures worse than the baseline's, each with its
// value, its bound and their relative difference if there are any. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct Finding {
    /// Kinds of findings, worst first.
    enum Kind: String, CaseIterable {
        case failed = "did not complete"
        case broken = "limit broken"
        case worse = "worse than last time"
        case slower = "slower, as advice"
        case open = "not judged here"

        var isBad: Bool { self == .failed || self == .broken || self == .worse }
    }

    var kind: Kind
    var scenario: String
    /// Engine, sweep point and figure.
    var what: String
    var here = ""
    /// The limit, or the baseline's figure.
    var bound = ""
    /// Relative difference from `bound`; nil if there is no ratio.
    var share: Double?
    var remark = ""

    /// Returns all findings of a run, worst first.
    static func all(_ record: RunRecord) -> [Finding] {
        let failed = record.voided.map { trial in
            Finding(
                kind: .failed, scenario: trial.spec.scenario,
                what: Self.joined([trial.spec.driver, trial.spec.variant, "trial \(trial.spec.trial)"]),
                remark: ([trial.fate.flag?.text ?? ""] + (trial.notes + trial.violations).prefix(1)).joined(
                    separator: ": "))
        }
        let judged = record.judgements.compactMap { judgement -> Finding? in
            switch judgement.verdict {
            case .kept: nil
            case .broken: Finding(judgement, .broken)
            case .unknown: Finding(judgement, .open)
            }
        }
        let worse = (record.compared?.worse ?? []).map { Finding($0, .worse) }
        let slower = (record.compared?.slower ?? []).map { Finding($0, .slower) }
        let all = failed + judged + worse + slower
        return Kind.allCases.flatMap { kind in
            all.filter { $0.kind == kind }.enumerated().sorted {
                // A value below a lower bound is as bad as one above an upper bound.
                (-abs($0.element.share ?? 0), $0.offset) < (-abs($1.element.share ?? 0), $1.offset)
            }.map(\.element)
        }
    }

    private static func joined(_ words: [String]) -> String { words.filter { !$0.isEmpty }.joined(separator: " ") }

    init(kind: Kind, scenario: String, what: String, remark: String) {
        (self.kind, self.scenario, self.what, self.remark) = (kind, scenario, what, remark)
    }

    private init(_ judgement: Judgement, _ kind: Kind) {
        guard let held = judgement.held else {
            // Journals of older versions have judgements without numbers.
            self.init(kind: kind, scenario: judgement.scenario, what: judgement.driver, remark: judgement.text)
            return
        }
        let name = held.metric.rawValue + (held.statistic == "value" ? "" : " \(held.statistic)")
        self.init(
            kind: kind, scenario: judgement.scenario, what: Self.joined([judgement.driver, held.variant, name]),
            remark: held.reason ?? "")
        let unit = held.metric.unit(of: held.statistic).rawValue
        here = held.value.map { Humanised.text($0, unit: unit) } ?? ""
        guard let bound = held.bound else { return }
        self.bound = "\(held.comparison.rawValue) \(Humanised.text(bound, unit: unit))"
        if let value = held.value, bound > 0 { share = value / bound - 1 }
    }

    private init(_ change: BaselineComparison.Change, _ kind: Kind) {
        let words = change.what.split(separator: " ", maxSplits: 1).map(String.init)
        self.init(kind: kind, scenario: words.first ?? "", what: words.dropFirst().joined(), remark: "")
        here = Humanised.text(change.now, unit: change.metric.unit)
        bound = Humanised.text(change.then, unit: change.metric.unit)
        if change.then > 0 { share = change.now / change.then - 1 }
    }
}
