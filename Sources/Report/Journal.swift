// journal.ndjson: what happened in a run, one JSON object per line, in the order it did: what no figure says, and what a
// run needs to be gone on with. Grows after each trial.
import Foundation
import Measure

/// Appends events to `journal.ndjson` in the run's folder.
public final class Journal: ReportFormat {
    public static let fileName = "journal.ndjson"

    private var file: AppendedFile?

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(
            run.directory + "/" + Self.fileName, header: try Line(run: run.header).text())
    }

    public func add(_ event: RunEvent) throws { try file?.append(Line(event).text()) }

    /// One line: exactly one of its fields is there.
    struct Line: Codable {
        var run: RunHeader?
        var trial: TrialRecord?
        var skipped: SkippedRecord?
        var judged: JudgementRecord?
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

        func text() throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }

    /// What a journal holds; a half line at its end is left out.
    /// - Throws: `DamagedReport` where a whole line is none of a journal.
    static func read(_ path: String) throws -> (header: RunHeader, events: [RunEvent]) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw DamagedReport("\(path): there is no such file; is this the folder of a run?")
        }
        var header = RunHeader()
        var events: [RunEvent] = []
        let whole = data.prefix(through: data.lastIndex(of: 10) ?? data.startIndex)
        for (number, text) in whole.split(separator: 10).enumerated() {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)) else {
                throw DamagedReport("\(path):\(number + 1): this is no line of a journal of this version")
            }
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
