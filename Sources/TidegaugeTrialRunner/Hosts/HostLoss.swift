// The loss of a host during a trial. Its result has no figures, but a histogram of the commits recorded so far.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct HostLoss: Error {
    let result: TrialResult

    /// - Parameters:
    ///   - sinceNs: time of detection in ns from the start of the measured window.
    ///   - records: the commit records that had arrived, for each writer.
    init(
        _ fault: TrialFault, sinceNs: Int64, _ window: Window, _ hosts: [HostAccount], _ records: [[CommitRecord]]
    ) {
        var result = TrialResult(fault)
        let ms = (Double(sinceNs) / 1e4).rounded() / 100
        result.notes.append("noticed \(ms) ms after the start of the measured window; the other hosts were stopped")
        result.hosts = hosts
        let kept = records.joined().filter { window.contains($0.dueNs) }
        result.counts["measured_commits"] = kept.count
        var service = LatencyHistogram()
        for record in kept { service.record(record.committedNs - record.beginNs) }
        if let histogram = service.record(for: .writeServiceTime, lengthNs: window.lengthNs) {
            result.recordings.histograms = [histogram]
        }
        self.result = result
    }
}
