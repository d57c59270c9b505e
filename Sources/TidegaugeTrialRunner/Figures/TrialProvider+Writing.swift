// Metrics of the writers and their schedule.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension TrialProvider {
    static let writing: [Metric: TrialProvider] = [
        .scheduleDelay: .events(.schedule) { $0.fromDue(\.beginNs) },
        .scheduleStarted: .number { $0.spec.writers.load == .open ? $0.scheduleStarted : nil },
        .missedCommits: .number {
            $0.spec.writers.load == .open ? (Double($0.missed.count), $0.measured.count + $0.missed.count) : nil
        },
        .writeServiceTime: .events { $0.writer(from: \.beginNs, to: \.committedNs) },
        .writeResponseTime: .events(.schedule) { $0.fromDue(\.committedNs) },
        .lockWait: .events { $0.writer(from: \.beginNs, to: \.lockedNs) },
        .achievedRate: .number { ($0.achievedRate, $0.measured.count) },
        .objectRate: .number { $0.spec.writers.load == .closed ? ($0.objectRate, $0.measured.count) : nil },
        .writerShareMin: .number { $0.spec.writers.threads > 1 ? ($0.writerShareMin, $0.measured.count) : nil },
        .failedCommits: .number { (Double($0.findings.refusals), $0.measured.count) },
        .recoveryTime: .events { $0.recovery },
    ]
}

extension FigureSheet {
    fileprivate func writer(from: KeyPath<CommitRecord, Int64>, to: KeyPath<CommitRecord, Int64>) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for record in measured {
            histogram.record(record[keyPath: from], record[keyPath: to], seenUntil: record[keyPath: to])
        }
        return histogram
    }

    /// Times from a due time. A commit that was not made is at least as late as its writer was when it gave up.
    fileprivate func fromDue(_ to: KeyPath<CommitRecord, Int64>) -> LatencyHistogram {
        var histogram = writer(from: \.dueNs, to: to)
        for commit in missed { histogram.record(commit.dueNs, nil, seenUntil: window.startNs + spec.givesUpNs) }
        return histogram
    }

    /// Share of the window's schedule that began within the window.
    fileprivate var scheduleStarted: (value: Double?, n: Int) {
        each(Double(measured.count { $0.beginNs < window.endNs }), of: measured.count + missed.count)
    }

    /// Commits that returned within the window, per second of its intended length.
    fileprivate var achievedRate: Double {
        let returned = history.commits.count { window.contains($0.record.committedNs) }
        return Double(returned) * 1e9 / Double(spec.durationNs)
    }

    /// Objects that all writers would write per second if they did nothing but commit. Generating changes and recording
    /// are excluded.
    fileprivate var objectRate: Double? {
        let records = measured
        let writingNs = records.reduce(0.0) { $0 + Double($1.committedNs - $1.beginNs) }
        guard writingNs > 0 else { return nil }
        let rowsPerCommit = spec.workload?.meanCommit ?? Double(spec.writers.rowsPerCommit)
        return Double(records.count * spec.writers.threads) * rowsPerCommit * 1e9 / writingNs
    }

    /// Commits of the writer with the fewest, relative to an equal share.
    fileprivate var writerShareMin: Double? {
        var commits = Array(repeating: 0, count: spec.writers.threads)
        for commit in history.commits where window.contains(commit.record.committedNs) { commits[commit.writer] += 1 }
        let total = commits.reduce(0, +)
        return total > 0 ? Double(commits.min()! * commits.count) / Double(total) : nil
    }

    /// At most one sample, for faults with a recovery.
    fileprivate var recovery: LatencyHistogram? {
        guard spec.fault.kind.isRecoveredFrom else { return nil }
        var histogram = LatencyHistogram()
        if let recoveryNs = findings.recoveryNs ?? hearingAgainNs { histogram.record(recoveryNs) }
        return histogram
    }

    /// Returns when the last observer was called for the first commit that affects it and began at `momentNs` or later.
    /// Observers without such a commit do not count.
    /// - Returns: nil if an observer was never called for its commit, or if there is no such commit.
    static func heardAgainNs(after momentNs: Int64, _ history: History, _ logs: some Sequence<ObserverLog>) -> Int64? {
        var lastNs: Int64?
        for log in logs {
            let later = history.queries[log.observer.query].commits.first {
                history.commits[Int($0)].record.beginNs >= momentNs
            }
            guard let later else { continue }
            let version = history.commits[Int(later)].record.version
            guard let record = log.records.first(where: { $0.enterNs >= momentNs && $0.version >= version }) else {
                return nil
            }
            lastNs = max(lastNs ?? 0, record.enterNs)
        }
        return lastNs
    }
}
