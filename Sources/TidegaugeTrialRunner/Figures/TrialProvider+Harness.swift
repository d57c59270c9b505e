// Metrics of the harness itself: its cost, and whether it detects injected faults.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension TrialProvider {
    static let harness: [Metric: TrialProvider] = [
        .harnessHiccup: .events(.outside) { $0.findings.hiccups },
        .clockUncertainty: .number { sheet in
            sheet.clockUncertaintyNs.map { (Double($0), sheet.findings.hosts.count) }
        },
        .recordingCost: .figures { $0.recordingCost },
        .recordingBytes: .number {
            ($0.findings.recording?.bytes.map { Double($0) }, $0.findings.recording?.pairs ?? 0)
        },
        .oracleCost: .number { each(Double($0.verdict.costNs), of: $0.history.commits.count) },
        .oracleViolations: .number { (Double($0.verdict.violationCount), $0.verdict.replayed) },
        .faultsCaught: .number {
            $0.spec.fault.kind.mustBeCaught ? (Double($0.verdict.violationCount), $0.verdict.replayed) : nil
        },
        .stallSeen: .number { $0.spec.fault.kind == .stall ? $0.stallSeen : nil },
        .slowdownSeen: .number { $0.spec.fault.kind == .slowdown ? $0.slowdownSeen : nil },
    ]
}

extension FigureSheet {
    fileprivate var recordingCost: [Figure] {
        let recording = findings.recording
        let clock = FigureFlag.clock(readings: RecordingCost.clockReads, ns: Int(findings.clockNs))
        let flags = recording == nil ? [] : [clock]
        return [Figure(.recordingCost, .value, recording?.ns, n: recording?.pairs ?? 0, flags: flags)]
    }

    /// Ratio of the measured p99 response time to the predicted one. With evenly due commits, all commits that came
    /// due during the stall waited for its remainder. So one in a hundred of all commits waited longer than the stall
    /// less 1 % of the window. The real length of the stall comes from a thread that only sleeps.
    fileprivate var stallSeen: (value: Double?, n: Int) {
        let corrected = histogram(.writeResponseTime)
        let longest = findings.hiccups.figures(for: .harnessHiccup).first { $0.statistic == .max }?.value
        let ratio = corrected?.percentile(.p99).flatMap { p99 in
            longest.flatMap { longest -> Double? in
                let predicted = longest - 0.01 * Double(window.lengthNs)
                return predicted > 0 ? Double(p99.value) / predicted : nil
            }
        }
        let n = corrected?.count ?? 0
        return (n >= 1_000 ? ratio : nil, n)
    }

    /// Relative slowdown of the median of the deliberately slowed commits.
    fileprivate var slowdownSeen: (value: Double?, n: Int) {
        var plain = LatencyHistogram()
        var slowed = LatencyHistogram()
        var made = Array(repeating: 0, count: spec.writers.threads)
        for commit in history.commits {
            defer { made[commit.writer] += 1 }
            guard window.contains(commit.record.dueNs) else { continue }
            let timeNs = commit.record.committedNs - commit.record.beginNs
            if SlowCommits.contains(made[commit.writer]) { slowed.record(timeNs) } else { plain.record(timeNs) }
        }
        let ratio = slowed.medianRatio(to: plain).map { $0 - 1 }
        let n = min(plain.count, slowed.count)
        return (n >= 20 ? ratio : nil, n)
    }
}
