// journal.ndjson: what happened in a run, one JSON object per line, in the order it did: what no figure says, and what a
// run needs to be gone on with. Grows after each trial.
import Foundation

/// Appends events to `journal.ndjson` in the run's folder.
public final class Journal: ReportFormat {
    public static let fileName = "journal.ndjson"

    private var file: AppendedFile?

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: RunEvent(run: run.header).line())
    }

    public func add(_ event: RunEvent) throws { try file?.append(event.line()) }

    /// What a journal holds, its header first; a half line at its end is left out.
    /// - Throws: `DamagedReport` where a whole line is none of a journal.
    static func read(_ path: String) throws -> [RunEvent] {
        try JSONLines.read(path, "a journal", hint: "is this the folder of a run?")
    }
}

/// A report's folder does not hold what it should.
public struct DamagedReport: Error, CustomStringConvertible, Equatable {
    public var description: String
    init(_ description: String) { self.description = description }
}
