// trace.json: the first commits and callbacks of each trial one by one, as Chrome's trace format, which Perfetto opens
// (ui.perfetto.dev). A trial is a process, its threads are threads, time starts with its measured window. A JSON array that
// is whole after each trial.
import Foundation
import Measure
import Trials

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
        var args: [String: Argument]
    }

    private enum Argument: Encodable {
        case text(String), number(Int64)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    /// One line of JSON each; times are µs.
    static func events(_ spans: [TraceSpan], of trial: TrialKey, process: Int) throws -> [String] {
        let title = [trial.scenario, trial.driver, trial.variant, "trial \(trial.trial)"].filter { !$0.isEmpty }
        let threads = Digest.inOrder(spans.map(\.thread))
        var events = [
            Event(
                name: "process_name", ph: "M", pid: process, tid: 0,
                args: ["name": .text(title.joined(separator: " "))])
        ]
        for (index, thread) in threads.enumerated() {
            events.append(
                Event(name: "thread_name", ph: "M", pid: process, tid: index + 1, args: ["name": .text(thread)]))
        }
        for span in spans {
            events.append(
                Event(
                    name: span.name, ph: "X", pid: process, tid: threads.firstIndex(of: span.thread)! + 1,
                    ts: Double(span.startNs) / 1e3, dur: Double(span.lengthNs) / 1e3,
                    args: ["version": .number(span.version)]))
        }
        return try events.map { try JSONFile.text($0) }
    }
}
