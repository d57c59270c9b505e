// Writes a comparison's folder: journal and pairs as it goes, everything that needs the whole at its end, and again from
// the folder alone. Used by one thread.
import Comparison
import Foundation
import Measure

public final class ComparisonReport {
    public static let htmlName = "compare.html"
    public static let summaryName = "summary.md"

    public let directory: String
    private let journal: AppendedFile
    private let pairs: AppendedFile
    private let plan: ComparisonPlan

    /// Makes `directory`, or goes on with what is in it.
    /// - Throws: `ReportError` where a file cannot be made.
    public init(_ directory: String, _ plan: ComparisonPlan, _ environment: EnvironmentReport) throws {
        self.directory = directory
        self.plan = plan
        try ReportFolder.make(directory)
        try ReportFile.replace("\(directory)/\(EnvironmentJSON.fileName)", with: environment.json())
        journal = try AppendedFile(
            "\(directory)/\(ComparisonRecord.journalName)", header: try ComparisonRecord.Line(plan: plan).text())
        pairs = try AppendedFile("\(directory)/\(PairsCSV.fileName)", header: CSV.line(PairsCSV.columns))
    }

    /// On disk when it returns.
    public func add(_ record: PairRecord) throws {
        try pairs.append(PairsCSV.lines(record, plan))
        try journal.append(ComparisonRecord.Line(pair: record).text())
    }

    /// The counted figures of a point, and the texts of the files that they name. On disk when it returns.
    public func add(_ rows: [CountedRow], files: [String: String]) throws {
        for (name, text) in files { try ReportFile.replace("\(directory)/\(name)", with: text.utf8) }
        try journal.append(ComparisonRecord.Line(counted: rows).text())
    }

    /// What could not be counted; once, when all else has been.
    public func add(uncounted: [OneSided]) throws {
        try journal.append(ComparisonRecord.Line(uncounted: uncounted).text())
    }

    /// - Parameter exitCode: what a shell sees; 130 of an interrupted comparison, which can be gone on with.
    public func end(exitCode: Int32, _ environment: EnvironmentReport, drawing: any PlotDrawing) throws {
        try journal.append(ComparisonRecord.Line(ended: .init(exitCode: exitCode)).text())
        try ReportFile.replace("\(directory)/\(EnvironmentJSON.fileName)", with: environment.json())
        try Self.write(into: directory, drawing)
    }

    /// Makes everything but journal and pairs from those.
    /// - Throws: `DamagedReport`, `ReportError`.
    public static func write(into directory: String, _ drawing: any PlotDrawing) throws {
        let judged = try JudgedComparison(directory)
        for (name, text) in [
            ("effects.csv", EffectsCSV.render(judged)), ("compare.json", try ComparisonJSON.render(judged)),
            (summaryName, ComparisonMarkdown.render(judged)),
            ("annotations.txt", ComparisonMarkdown.annotations(judged)),
            ("github-action-benchmark.json", try TrackerJSON.actionBenchmark(judged)),
            ("bencher.json", try TrackerJSON.bencher(judged)),
            (htmlName, try ComparisonHTML.render(judged, drawing)),
        ] {
            try ReportFile.replace("\(directory)/\(name)", with: text.utf8)
        }
    }
}

/// A comparison and what it comes to.
public struct JudgedComparison: Sendable {
    public let record: ComparisonRecord
    public let engine: ComparisonEngine
    public let rows: [ComparedRow]
    public let outcome: ComparisonOutcome

    /// - Throws: `DamagedReport`.
    public init(_ directory: String) throws { try self.init(ComparisonRecord.load(directory)) }

    /// - Throws: `DamagedReport`.
    public init(_ record: ComparisonRecord) throws {
        self.record = record
        var engine = try record.replayed()
        // The last pair of a stage does not yet enter the next one.
        if record.isFinished { _ = engine.next() }
        self.engine = engine
        rows = Judge(engine).rows()
        outcome = ComparisonOutcome(engine, rows, record.counted)
    }

    public var gates: [ComparedRow] { rows.filter(\.isGate) }
    /// What is advised of figures that do not gate, worst first.
    public var news: [ComparedRow] {
        rows.filter { !$0.isGate && $0.isNews }.sorted { ($0.qValue ?? 1) < ($1.qValue ?? 1) }
    }

    /// A pair that was run again.
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

        /// How it ended, and so many of its notes.
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
