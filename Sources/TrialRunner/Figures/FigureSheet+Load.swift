// Figures of one trial about its load, its heap and its versions, and the marks of what lies near the floor.
import Measure
import Scenario
import Statistics
import Trials

extension FigureSheet {
    /// The share of the window's schedule that was begun within the window.
    var scheduleStarted: Figure {
        let begun = measured.count { $0.beginNs < window.endNs }
        let due = measured.count + unmade.count
        return Figure(.scheduleStarted, .value, due > 0 ? Double(begun) / Double(due) : nil, n: due)
    }

    /// How a quantity drifts, per second: the median slope of its 250 ms means (Theil–Sen), which a single disturbance
    /// does not bend. Too short a window has none.
    func slope(_ metric: Metric, _ series: IntervalSeries) -> Figure {
        let means = series.means.prefix(series.wholeCount).enumerated().compactMap { index, mean in
            mean.map { (seconds: Double(index) * Double(IntervalSeries.intervalNs) / 1e9, mean: $0) }
        }
        let slope = means.count < 3 ? nil : TheilSen.slope(x: means.map(\.seconds), y: means.map(\.mean))
        return Figure(metric, .slope, slope, n: means.count)
    }

    func bytes(_ metric: Metric, _ bytes: Int64?) -> [Figure] {
        let commits = probes.allocations?.commits ?? 0
        let each = bytes.flatMap { commits > 0 ? Double($0) / Double(commits) : nil }
        return [Figure(metric, .value, each, n: commits)]
    }

    var activeVersions: [Figure] {
        [
            Figure(.activeVersions, .value, probes.versions.last.map { Double($0) }, n: 1),
            Figure(.activeVersions, .max, probes.versions.highest.map { Double($0) }, n: 1),
        ]
    }

    /// One sample, where something was done to the writing process.
    var recovery: LatencyHistogram? {
        guard spec.fault.kind == .writerKilled || spec.fault.kind == .writerStopped else { return nil }
        var histogram = LatencyHistogram()
        if let recoveryNs = probes.recoveryNs { histogram.record(recoveryNs) }
        return histogram
    }

    /// The p99 of the times from a due time, over what it has to be: of commits due evenly, all that came due while the
    /// process stood still waited for what was left, so that one in a hundred of all waited longer than the stall less a
    /// hundredth of the window. How long it really stood still, a thread knows that did nothing but sleep.
    var stallSeen: Figure {
        let corrected = histogram(.writeResponseTime)
        let longest = hiccups.figures(for: .harnessHiccup).first { $0.statistic == .max }?.value
        let ratio = corrected?.percentile(.p99).flatMap { p99 in
            longest.flatMap { longest -> Double? in
                let predicted = longest - 0.01 * Double(window.endNs - window.startNs)
                return predicted > 0 ? Double(p99.value) / predicted : nil
            }
        }
        let n = corrected?.count ?? 0
        return Figure(.stallSeen, .value, n >= 1_000 ? ratio : nil, n: n)
    }

    /// How much slower the commits read that were slowed down on purpose.
    var slowdownSeen: Figure {
        var plain = LatencyHistogram()
        var slowed = LatencyHistogram()
        var made = Array(repeating: 0, count: spec.writers.threads)
        for commit in history.commits {
            defer { made[commit.writer] += 1 }
            guard window.contains(commit.record.dueNs) else { continue }
            let timeNs = commit.record.committedNs - commit.record.beginNs
            if SlowCommits.contains(made[commit.writer]) { slowed.record(timeNs) } else { plain.record(timeNs) }
        }
        let ratio = plain.percentile(.p50).flatMap { plain in
            slowed.percentile(.p50).map { Double($0.value) / Double(max(plain.value, 1)) - 1 }
        }
        let n = min(plain.count, slowed.count)
        return Figure(.slowdownSeen, .value, n >= 20 ? ratio : nil, n: n)
    }

    /// Marks a time under three readings of the clock; and one from a due time that the thread which only sleeps and
    /// wakes nearly reaches too.
    func atFloor(_ figure: Figure) -> Figure {
        guard let value = figure.value, figure.metric.unit == "ns", figure.statistic != .count else { return figure }
        var floorNs = probes.clockNs
        switch figure.metric {
        case .scheduleDelay, .writeResponseTime, .endToEndLatency:
            // The harness's own part in what it measures is that it woke late.
            if spec.writers.load == .open, let hiccup = hiccups.percentile(figure.statistic) {
                floorNs = max(floorNs, Double(hiccup.value))
            }
        default: break
        }
        guard abs(value) < Figure.floorFactor * floorNs else { return figure }
        var marked = figure
        marked.flags.append("at_floor")
        return marked
    }
}
