// The first commits and callbacks of the measured window one by one, for a trace. Off the clock, and only where asked.
import Measure
import Scenario

enum TraceSpans {
    /// At most `most` commits and as many callbacks, earliest first.
    static func spans(_ history: History, _ logs: [ObserverLog], _ window: Window, most: Int) -> [TraceSpan] {
        let commits = history.commits.filter { window.contains($0.record.dueNs) }.prefix(most)
        let writing = commits.flatMap { commit -> [TraceSpan] in
            let record = commit.record
            return [
                span("commit", "writer-\(commit.writer)", record.beginNs, record.committedNs, record.version, window),
                span("lock wait", "writer-\(commit.writer)", record.beginNs, record.lockedNs, record.version, window),
            ]
        }
        var callbacks: [TraceSpan] = []
        for log in logs {
            for index in 0..<log.count where window.contains(log[index].enterNs) {
                let record = log[index]
                callbacks.append(
                    span(
                        log.observer.name, log.observer.site.name, record.enterNs, record.exitNs, record.version, window
                    ))
                if callbacks.count >= 4 * most { break }
            }
        }
        callbacks.sort { $0.startNs < $1.startNs }
        return writing + callbacks.prefix(most)
    }

    private static func span(
        _ name: String, _ thread: String, _ fromNs: Int64, _ untilNs: Int64, _ version: Int64, _ window: Window
    ) -> TraceSpan {
        TraceSpan(
            name: name, thread: thread, startNs: fromNs - window.startNs, lengthNs: max(0, untilNs - fromNs),
            version: version)
    }
}
