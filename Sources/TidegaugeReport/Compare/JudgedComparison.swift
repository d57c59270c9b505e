// Judgements on the pairs and counts of a comparison, made once for all formats.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

/// A comparison and its judgements.
public struct JudgedComparison: Sendable {
    public let record: ComparisonRecord
    public let engine: ComparisonEngine
    public let rows: [ComparedRow]
    public let outcome: ComparisonOutcome

    /// Judges the comparison in a folder.
    /// - Throws: `DamagedReport`.
    public init(_ directory: String) throws {
        let record = try ComparisonRecord.load(directory)
        var engine = try record.replayed()
        // Replaying ends in the last pair's stage, so `next` advances to the following one.
        if record.isFinished { _ = engine.next() }
        self.init(record, engine)
    }

    /// - Parameter engine: state that the pairs of `record` lead to.
    public init(_ record: ComparisonRecord, _ engine: ComparisonEngine) {
        (self.record, self.engine) = (record, engine)
        rows = Judge(engine).rows()
        outcome = ComparisonOutcome(engine, rows, record.counted)
    }

    public var gates: [ComparedRow] { rows.filter(\.isGate) }
    /// Names of subjects whose times were not measured, in a comparison by counts only.
    var unmeasured: [String] { record.plan.isCountedOnly ? record.plan.subjects.map(\.title) : [] }
    /// Points that were not counted in a comparison by counts only.
    var uncounted: [String] { record.plan.isCountedOnly ? record.plan.uncounted(by: record.counted) : [] }
    /// Changed figures that are not gates, most significant first.
    public var news: [ComparedRow] {
        rows.filter { !$0.isGate && $0.isNews }.sorted { ($0.qValue ?? 1) < ($1.qValue ?? 1) }
    }

    /// A pair that the machine disturbed. Only counted figures use it.
    struct VoidPair: Encodable {
        var subject: String
        var pair: Int
        var reason: String
    }

    var voids: [VoidPair] {
        engine.tracks.flatMap { track in
            track.voids.map { VoidPair(subject: track.subject.title, pair: $0.number, reason: $0.void ?? "") }
        }
    }

    /// A trial that did not complete.
    struct Failure: Encodable {
        var subject: String
        var pair: Int
        var side: String
        var variant: String
        var outcome: String
        var notes: [String]

        /// Text with the outcome and the first notes.
        func text(notes count: Int) -> String { ([outcome] + notes.prefix(count)).joined(separator: ": ") }
    }

    var failures: [Failure] {
        engine.tracks.flatMap { track in
            track.failed.flatMap { record in
                record.failures.map {
                    Failure(
                        subject: track.subject.title, pair: record.number, side: $0.isHead ? "head" : "base",
                        variant: $0.variant, outcome: $0.trial.fate.flag?.text ?? "", notes: $0.trial.notes)
                }
            }
        }
    }
}
