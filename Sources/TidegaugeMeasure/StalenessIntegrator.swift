// Staleness and version lag as functions of time, integrated exactly over a window from what the recorders hold. Off
// the clock. It samples nothing: between events an age grows by one ns per ns, and such a ramp goes into the
// distribution whole, so the only error is that of the buckets (at most 1/1 024 of the value; the mean is exact).

/// Builds the time-weighted distributions of `staleness` and `version_lag` over a window, for any number of observers.
public struct StalenessIntegrator: Sendable {
    /// One commit that affects the observer's query.
    public struct Commit: Sendable, Equatable {
        public var committedNs: Int64
        public var version: Int64

        public init(committedNs: Int64, version: Int64) { (self.committedNs, self.version) = (committedNs, version) }
    }

    /// One callback of the observer.
    public struct Coverage: Sendable, Equatable {
        public var enterNs: Int64
        /// Every commit up to this version is in the callback's data.
        public var version: Int64

        public init(enterNs: Int64, version: Int64) { (self.enterNs, self.version) = (enterNs, version) }
    }

    public let startNs: Int64
    public let endNs: Int64
    /// Age of the oldest commit that had returned and was not covered yet, 0 while there was none.
    public private(set) var staleness = TimeWeightedHistogram()
    /// How many of the observer's commits had returned and were not covered yet. Where every commit affects the query
    /// this is head − covered; where some do not, counting versions would charge the observer for silence it owes.
    public private(set) var versionLag = TimeWeightedHistogram()
    /// Staleness by interval, over all observers.
    public private(set) var overTime: IntervalSeries
    /// Version lag by interval, over all observers.
    public private(set) var lagOverTime: IntervalSeries

    /// The window is `startNs ..< endNs` on the monotonic clock.
    public init(startNs: Int64, endNs: Int64) {
        precondition(startNs <= endNs, "a window cannot end before it starts")
        (self.startNs, self.endNs) = (startNs, endNs)
        overTime = IntervalSeries(startNs: startNs, endNs: endNs)
        lagOverTime = overTime
    }

    /// Integrates one observer. O(n log n) in its commits.
    /// - Parameters:
    ///   - commits: Those that affect its query, versions ascending; those before the window too, since they may be
    ///     what it is still waiting for.
    ///   - coverages: Its callbacks in the order they were entered, the initial one included.
    public mutating func add(commits: some Collection<Commit>, coverages: some RandomAccessCollection<Coverage>) {
        var spans = Self.uncoveredSpans(commits: commits, coverages: coverages)
        // Writers' commit calls may return in another order than the store put them.
        spans.sort { $0.fromNs < $1.fromNs }
        let samples = spans.count { $0.untilNs > startNs && $0.fromNs < endNs || isInWindow($0.fromNs) }
        integrateStaleness(spans)
        integrateLag(spans)
        staleness.addSamples(samples)
        versionLag.addSamples(samples)
    }

    private func isInWindow(_ timeNs: Int64) -> Bool { timeNs >= startNs && timeNs < endNs }

    /// While a commit had returned and was not covered; empty (`untilNs == fromNs`) when it was covered before it
    /// returned.
    private struct Span {
        var fromNs: Int64
        var untilNs: Int64
    }

    private static func uncoveredSpans(
        commits: some Collection<Commit>, coverages: some RandomAccessCollection<Coverage>
    ) -> [Span] {
        var spans: [Span] = []
        spans.reserveCapacity(commits.count)
        var next = coverages.startIndex
        for commit in commits {
            // The covering delivery is the first callback whose version reaches the commit's. Versions ascend, so the
            // search never goes back.
            while next < coverages.endIndex, coverages[next].version < commit.version {
                next = coverages.index(after: next)
            }
            let coveredNs = next < coverages.endIndex ? coverages[next].enterNs : Int64.max
            spans.append(Span(fromNs: commit.committedNs, untilNs: max(coveredNs, commit.committedNs)))
        }
        return spans
    }

    /// In order of return, each commit is the oldest uncovered one from its return, or from where those before it were
    /// all covered, until its own covering.
    private mutating func integrateStaleness(_ spans: [Span]) {
        var coveredUntilNs = startNs
        for span in spans {
            let fromNs = max(coveredUntilNs, span.fromNs)
            let untilNs = min(span.untilNs, endNs)
            guard untilNs > fromNs else { continue }
            staleness.record(0, weightNs: fromNs - coveredUntilNs)
            staleness.recordRamp(from: fromNs - span.fromNs, to: untilNs - span.fromNs)
            overTime.add(fromNs: coveredUntilNs, untilNs: fromNs, value: 0, grows: false)
            overTime.add(fromNs: fromNs, untilNs: untilNs, value: fromNs - span.fromNs, grows: true)
            coveredUntilNs = untilNs
        }
        staleness.record(0, weightNs: endNs - coveredUntilNs)
        overTime.add(fromNs: coveredUntilNs, untilNs: endNs, value: 0, grows: false)
    }

    private mutating func integrateLag(_ spans: [Span]) {
        let starts = spans.map(\.fromNs)
        let ends = spans.map(\.untilNs).sorted()
        var started = 0
        var ended = 0
        var nowNs = startNs
        while nowNs < endNs {
            while started < starts.count, starts[started] <= nowNs { started += 1 }
            while ended < ends.count, ends[ended] <= nowNs { ended += 1 }
            var untilNs = endNs
            if started < starts.count { untilNs = min(untilNs, starts[started]) }
            if ended < ends.count { untilNs = min(untilNs, ends[ended]) }
            versionLag.record(Int64(started - ended), weightNs: untilNs - nowNs)
            lagOverTime.add(fromNs: nowNs, untilNs: untilNs, value: Int64(started - ended), grows: false)
            nowNs = untilNs
        }
    }
}
