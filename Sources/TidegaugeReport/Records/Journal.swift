// journal.ndjson: the events of a run in order, one JSON object per line.
import Foundation

/// Appends events to `journal.ndjson` in the run's folder.
public final class Journal: ReportFormat {
    public static let fileName = "journal.ndjson"

    private var file: AppendedFile?

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: RunEvent.run(run.header).line())
    }

    public func add(_ event: RunEvent) throws { try file?.append(event.line()) }

    /// Reads a journal. An incomplete last line is ignored.
    /// - Throws: `DamagedReport` if it is missing or has no complete line, or if a complete line is invalid.
    static func read(_ path: String) throws -> [RunEvent] {
        try JSONLines.read(path, "a journal", hint: "is this the folder of a run?")
    }
}
