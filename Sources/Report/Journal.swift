// journal.ndjson: what happened in a run, one JSON object per line, in the order it did: what no figure says, and what a
// run needs to be gone on with. Grows after each trial.
import Foundation
import Measure
import Trials

/// Appends events to `journal.ndjson` in the run's folder.
public final class Journal: ReportFormat {
    public static let fileName = "journal.ndjson"

    private var file: AppendedFile?

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: try Line(run: run.header).text())
    }

    public func add(_ event: RunEvent) throws { try file?.append(Line(event).text()) }

    /// One line: exactly one of its fields is there.
    struct Line: Codable {
        var run: RunHeader?
        var trial: TrialRecord?
        var skipped: SkippedRecord?
        var judged: Judgement?
        var ended: EndRecord?

        init(run: RunHeader) { self.run = run }

        init(_ event: RunEvent) {
            switch event {
            case .trial(let record): trial = record.withoutEvents
            case .skipped(let record): skipped = record
            case .judged(let record): judged = record
            case .ended(let record): ended = record
            }
        }

        var event: RunEvent? {
            trial.map { .trial($0) } ?? skipped.map { .skipped($0) } ?? judged.map { .judged($0) }
                ?? ended.map { .ended($0) }
        }

        func text() throws -> String { try JSONLines.text(self) }
    }

    /// What a journal holds; a half line at its end is left out.
    /// - Throws: `DamagedReport` where a whole line is none of a journal.
    static func read(_ path: String) throws -> (header: RunHeader, events: [RunEvent]) {
        let lines: [Line] = try JSONLines.read(path, "a journal", hint: "is this the folder of a run?")
        var header = RunHeader()
        var events: [RunEvent] = []
        for line in lines {
            if let run = line.run { header = run } else if let event = line.event { events.append(event) }
        }
        return (header, events)
    }
}

/// A report's folder does not hold what it should.
public struct DamagedReport: Error, CustomStringConvertible, Equatable {
    public var description: String
    init(_ description: String) { self.description = description }
}
