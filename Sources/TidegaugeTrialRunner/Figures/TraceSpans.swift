// Returns early commits and callbacks of the measured window, for a trace.
import TidegaugeMeasure
import TidegaugeSpec

enum TraceSpans {
    /// Returns the spans of at most `most` early commits, two for each, and of at most `most` early callbacks.
    static func spans(_ history: History, _ logs: [ObserverLog], _ window: Window, most: Int) -> [TraceSpan] {
        let commits = history.commits.filter { window.contains($0.record.dueNs) }.prefix(most)
        /// Makes a span relative to the start of the window.
        func span(_ name: String, _ thread: String, _ fromNs: Int64, _ untilNs: Int64, _ version: Int64) -> TraceSpan {
            let lengthNs = max(0, untilNs - fromNs)
            return TraceSpan(
                name: name, thread: thread, startNs: fromNs - window.startNs, lengthNs: lengthNs, version: version)
        }
        let writing = commits.flatMap { commit in
            [("commit", commit.record.committedNs), ("lock wait", commit.record.lockedNs)].map { name, untilNs in
                span(name, "writer-\(commit.writer)", commit.record.beginNs, untilNs, commit.record.version)
            }
        }
        var callbacks: [TraceSpan] = []
        for log in logs {
            for record in log.records where window.contains(record.enterNs) {
                let (name, site) = (log.observer.name, log.observer.site.name)
                callbacks.append(span(name, site, record.enterNs, record.exitNs, record.version))
                if callbacks.count >= 4 * most { break }
            }
        }
        callbacks.sort { $0.startNs < $1.startNs }
        return writing + callbacks.prefix(most)
    }
}
