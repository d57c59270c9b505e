// The result of a comparison, in a word. Pure.
import TidegaugeMeasure

/// The result of a comparison.
public struct ComparisonOutcome: Sendable, Equatable {
    public enum Word: String, Sendable, Codable {
        case regressed, inconclusive
        case failing = "trials fail"
        case pass = "no regression"
    }

    public var word: Word
    /// Fates of the head's trials that did not occur on the base, of subjects that were given up.
    public var fates: [TrialFate]

    public init(_ engine: ComparisonEngine, _ rows: [ComparedRow], _ counted: [CountedRow] = []) {
        fates = engine.tracks.filter { $0.state == .failing }.flatMap { track in
            let failures = track.failed.flatMap(\.failures)
            let known = Set(failures.filter { !$0.isHead }.map(\.trial.fate.code))
            return failures.filter { $0.isHead && !known.contains($0.trial.fate.code) }.map(\.trial.fate)
        }
        let verdicts = rows.filter(\.isGate).map(\.verdict) + counted.map(\.verdict)
        // If times are measured, they cover the points that could not be counted.
        let isAnyOpen = engine.plan.isCountedOnly && !engine.plan.uncounted(by: counted).isEmpty
        if !fates.isEmpty {
            word = .failing
        } else if verdicts.contains(.regressed) {
            word = .regressed
        } else if isAnyOpen || verdicts.isEmpty || verdicts.contains(.inconclusive) || verdicts.contains(.suspected) {
            word = .inconclusive
        } else {
            word = .pass
        }
    }
}
