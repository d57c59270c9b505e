// Integrates staleness and version lag over a window, from recorded commits and callbacks, after the load. Between
// events an age grows by 1 ns per ns, and the whole ramp is added to the distribution. Buckets raise a value by less
// than 1/1,024. The mean does not depend on them.

/// Builds the time-weighted distributions of `staleness` and `version_lag` over a window, for any number of observers.
public struct StalenessIntegrator: Sendable {
    /// A commit that affects the observer's query.
    public struct Commit: Sendable, Equatable {
        public var committedNs: Int64
        public var version: Int64

        public init(committedNs: Int64, version: Int64) { (self.committedNs, self.version) = (committedNs, version) }
    }

    /// A callback of the observer.
    public struct Coverage: Sendable, Equatable {
        public var enterNs: Int64
        /// The callback's data contains all commits up to this version.
        public var version: Int64

        public init(enterNs: Int64, version: Int64) { (self.enterNs, self.version) = (enterNs, version) }
    }

    public let startNs: Int64
    public let endNs: Int64
    /// Age of the oldest commit that returned and is not covered; 0 if there is none.
    public private(set) var staleness = TimeWeightedHistogram()
    /// Number of commits that affect the observer's query, returned and are not covered.
    public private(set) var versionLag = TimeWeightedHistogram()
    /// Staleness by interval, over all observers.
    public private(set) var overTime: IntervalSeries
    /// Version lag by interval, over all observers.
    public private(set) var lagOverTime: IntervalSeries

    /// Creates an integrator for the window `startNs ..< endNs` on the monotonic clock.
    public init(startNs: Int64, endNs: Int64) {
        precondition(startNs <= endNs, "a window cannot end before it starts")
        (self.startNs, self.endNs) = (startNs, endNs)
        overTime = IntervalSeries(startNs: startNs, endNs: endNs)
        lagOverTime = overTime
    }

    /// Adds one observer.
    /// - Parameters:
    ///   - commits: commits that affect its query, with ascending versions, including those before the window, which
    ///     may not be covered yet.
    ///   - coverages: its callbacks in the order of entry, including the initial one.
    public mutating func add(commits: some Collection<Commit>, coverages: some RandomAccessCollection<Coverage>) {
        var spans = Self.uncoveredSpans(commits: commits, coverages: coverages)
        // Commit calls may return in another order than that of versions.
        spans.sort { $0.fromNs < $1.fromNs }
        let samples = spans.count { $0.untilNs > startNs && $0.fromNs < endNs || isInWindow($0.fromNs) }
        integrateStaleness(spans)
        integrateLag(spans)
        staleness.addSamples(samples)
        versionLag.addSamples(samples)
    }

    private func isInWindow(_ timeNs: Int64) -> Bool { timeNs >= startNs && timeNs < endNs }

    /// Time from the return of a commit to its covering. Empty (`untilNs == fromNs`) if it was covered before it
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
            // The covering delivery is the first callback with at least the commit's version. Versions ascend, so the
            // search continues from the last one.
            while next < coverages.endIndex, coverages[next].version < commit.version {
                next = coverages.index(after: next)
            }
            let coveredNs = next < coverages.endIndex ? coverages[next].enterNs : Int64.max
            spans.append(Span(fromNs: commit.committedNs, untilNs: max(coveredNs, commit.committedNs)))
        }
        return spans
    }

    /// In order of return, a commit is the oldest uncovered one from its return or the covering of all earlier ones,
    /// whichever is later, until it is covered itself.
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
