// trace.json: the first commits and callbacks of each trial in Chrome's trace format, for Perfetto (ui.perfetto.dev). A
// trial is shown as a process, and time starts with its measured window. After each trial it is a complete JSON array.
import Foundation
import TidegaugeMeasure
import TidegaugeTrial

/// Writes `trace.json` in the run's folder.
public final class ChromeTrace: ReportFormat {
    public static let fileName = "trace.json"
    private static let end = "\n]\n"

    private var path = ""
    private var trials = 0

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        path = run.directory + "/" + Self.fileName
        let earlier = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        trials = earlier.components(separatedBy: "\"process_name\"").count - 1
        if !earlier.hasSuffix(Self.end) { try ReportFile.replace(path, with: ("[" + Self.end).utf8) }
    }

    public func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws {
        guard !recordings.trace.isEmpty else { return }
        trials += 1
        let events = try Self.events(recordings.trace, of: trial, process: trials)
        let file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw ReportError("open the file", path, errno: errno) }
        defer { close(file) }
        lseek(file, -off_t(Self.end.utf8.count), SEEK_END)
        let text = (trials > 1 ? ",\n" : "\n") + events.joined(separator: ",\n") + Self.end
        try ReportFile.write(text.utf8, to: file, path: path)
    }

    private struct Event: Encodable {
        var name: String
        var ph: String
        var pid: Int
        var tid: Int
        var ts: Double?
        var dur: Double?
        var args: Arguments
    }

    private struct Arguments: Encodable {
        var name: String?
        var version: Int64?
    }

    /// Returns one line of JSON per event, with times in µs.
    static func events(_ spans: [TraceSpan], of trial: TrialKey, process: Int) throws -> [String] {
        let title = [trial.scenario, trial.driver, trial.variant, "trial \(trial.trial)"].filter { !$0.isEmpty }
        let threads = Digest.inOrder(spans.map(\.thread))
        func named(_ kind: String, _ thread: Int, _ name: String) -> Event {
            Event(name: kind, ph: "M", pid: process, tid: thread, args: Arguments(name: name))
        }
        var events = [named("process_name", 0, title.joined(separator: " "))]
        events += threads.enumerated().map { named("thread_name", $0.offset + 1, $0.element) }
        events += spans.map { span in
            Event(
                name: span.name, ph: "X", pid: process, tid: threads.firstIndex(of: span.thread)! + 1,
                ts: Double(span.startNs) / 1e3, dur: Double(span.lengthNs) / 1e3,
                args: Arguments(version: span.version))
        }
        return try events.map { try JSONFile.text($0) }
    }
}
