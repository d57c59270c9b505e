// Computes the figures per pair of an affecting commit and an observer, and per callback.
import TidegaugeMeasure
import TidegaugeSpec

struct PairFigures {
    private(set) var delivery = LatencyHistogram()
    private(set) var endToEnd = LatencyHistogram()
    private(set) var writeToCallback = LatencyHistogram()
    private(set) var callbackTime = LatencyHistogram()
    private(set) var batchSpan = LatencyHistogram()
    private(set) var firstDelivery = LatencyHistogram()
    private(set) var staleness: StalenessIntegrator
    /// By due time; the steady-state test also uses it.
    private(set) var endToEndOverTime: IntervalSeries
    private(set) var pairs = 0
    private(set) var coveredPairs = 0
    private(set) var callbacks = 0

    /// The largest lead of a callback over its commit's beginning that exceeds the clocks' uncertainty, or nil. Not
    /// computed without hosts that write.
    private(set) var impossible: (earlierNs: Int64, version: Int64)?
    /// Uncertainty (±) of times on another host; nil without hosts that write.
    let uncertaintyNs: Int64?

    private let history: History
    /// Records of all commits; those of an echo are on the clock of its host.
    private var records: ContiguousArray<CommitRecord>
    private let window: Window
    /// Time of the last look for callbacks.
    private let endNs: Int64
    /// Callbacks for each commit.
    private var told: ContiguousArray<Told>

    /// The commits that count for an observer, and the clock of its times.
    private struct View {
        /// Writers whose commits count; nil if all count.
        var writers: Range<Int>?
        /// The measured window on the observer's clock, like `endNs`.
        var window: Window
        var endNs: Int64
        /// Uncertainty (±) of its times; nil without hosts that write.
        var doubtNs: Int64?

        func counts(_ writer: Int) -> Bool { writers?.contains(writer) ?? true }
    }

    private struct Told {
        /// Times of the first and the last observer's callback for the commit.
        var firstNs = Int64.max
        var lastNs = Int64.min
        var observers: Int32 = 0
        /// Number of observers that were never called for it.
        var missing: Int32 = 0
        /// Time of the last look at the observers, on their clock.
        var untilNs: Int64 = 0
    }

    init(_ history: History, _ window: Window, endNs: Int64, uncertaintyNs: Int64? = nil) {
        self.uncertaintyNs = uncertaintyNs
        (self.history, self.window, self.endNs) = (history, window, endNs)
        records = ContiguousArray(history.commits.lazy.map(\.record))
        staleness = StalenessIntegrator(startNs: window.startNs, endNs: window.endNs)
        endToEndOverTime = IntervalSeries(startNs: window.startNs, endNs: window.endNs)
        told = ContiguousArray(repeating: Told(), count: history.commits.count)
    }

    /// Adds the observations of a host. If it writes, they are of its own commits, on its clock; otherwise of all
    /// commits.
    mutating func add(_ echo: Echo) {
        if echo.writers.isEmpty {
            let view = View(writers: nil, window: window, endNs: echo.endNs, doubtNs: uncertaintyNs)
            for log in echo.logs { add(log, view) }
            return
        }
        var made = Array(repeating: 0, count: echo.writers.count)
        for index in history.commits.indices where echo.writers.contains(history.commits[index].writer) {
            let writer = history.commits[index].writer - echo.writers.lowerBound
            records[index] = echo.records[writer][made[writer]]
            made[writer] += 1
        }
        // All its times are on one clock, so the uncertainty is 0.
        let view = View(writers: echo.writers, window: echo.window, endNs: echo.endNs, doubtNs: 0)
        for log in echo.logs { add(log, view) }
    }

    mutating func add(_ log: ObserverLog) {
        add(log, View(writers: nil, window: window, endNs: endNs, doubtNs: uncertaintyNs))
    }

    private mutating func add(_ log: ObserverLog, _ view: View) {
        let query = history.queries[log.observer.query]
        let settled = settledEnd(log, query)
        var spans: [Int: Int64] = [:]
        var covering: Set<Int> = []
        let versions = query.commits.prefix(settled).lazy.map { [history] in history.commits[Int($0)].record.version }
        Coverage.forEach(commitVersions: versions, callbackCount: log.count, callbackVersion: { log[$0].version }) {
            place, callback in
            let index = Int(query.commits[place])
            if let callback { covering.insert(callback) }
            guard view.counts(history.commits[index].writer) else { return }
            if add(commit: index, enterNs: callback.map { log[$0].enterNs }, view), let callback {
                spans[callback, default: 0] += 1
            }
        }
        for span in spans.values { batchSpan.record(span) }
        callbacks += spans.count
        // Callbacks of the window that covered no commit count too; those that covered only commits of the warm-up do
        // not.
        callbacks += log.records.enumerated().count { index, record in
            !covering.contains(index) && !record.isInitial && view.window.contains(record.enterNs)
        }
        firstDelivery.record(log.observer.subscribedNs, log.count > 0 ? log[0].enterNs : nil, seenUntil: view.endNs)
        for record in log.records where record.enterNs >= view.window.startNs && !record.isInitial {
            callbackTime.record(record.enterNs, record.exitNs > 0 ? record.exitNs : nil, seenUntil: view.endNs)
        }
        let missed = history.missed.filter {
            $0.queries.contains(log.observer.query) && window.contains($0.dueNs) && view.counts($0.writer)
        }
        for commit in missed { endToEnd.record(commit.dueNs, nil, seenUntil: endNs) }
    }

    /// Adds the log of a query observed for a part of the load. Commits count that were due after its first delivery
    /// and not covered by it.
    mutating func add(_ passing: PassingLog, query number: Int) {
        guard let first = passing.callbacks.first, let last = passing.callbacks.last else { return }
        let query = history.queries[number]
        let covered = query.affecting(before: history.covered(by: last.version))
        // Commits that had not returned when the query ended are not expected.
        let end = query.commits.lastIndex { records[Int($0)].committedNs < passing.endNs }.map { $0 + 1 } ?? 0
        let settled = end > covered && query.net(covered..<end).isEmpty ? covered : end
        let view = View(writers: nil, window: window, endNs: passing.endNs, doubtNs: uncertaintyNs)
        var spans: [Int: Int64] = [:]
        let versions = query.commits.prefix(settled).lazy.map { [history] in history.commits[Int($0)].record.version }
        let callbacks = passing.callbacks
        Coverage.forEach(
            commitVersions: versions, callbackCount: callbacks.count, callbackVersion: { callbacks[$0].version }
        ) { place, callback in
            let index = Int(query.commits[place])
            guard records[index].dueNs >= first.enterNs, callback != 0 else { return }
            if add(commit: index, enterNs: callback.map { callbacks[$0].enterNs }, view), let callback {
                spans[callback, default: 0] += 1
            }
        }
        for span in spans.values { batchSpan.record(span) }
        self.callbacks += spans.count
    }

    /// Separate from `add`, because integrating staleness is expensive.
    mutating func addStaleness(_ log: ObserverLog) {
        let query = history.queries[log.observer.query]
        let settled = settledEnd(log, query)
        staleness.add(
            commits: query.commits.prefix(settled).map { commit -> StalenessIntegrator.Commit in
                let record = history.commits[Int(commit)].record
                return .init(committedNs: record.committedNs, version: record.version)
            },
            coverages: log.records.map { .init(enterNs: $0.enterNs, version: $0.version) })
    }

    /// Returns the end of the affecting commits that need a callback. The last ones need none without a net change.
    private func settledEnd(_ log: ObserverLog, _ query: QueryHistory) -> Int {
        guard log.count > 0 else { return query.commits.count }
        let covered = query.affecting(before: history.covered(by: log[log.count - 1].version))
        return query.net(covered..<query.commits.count).isEmpty ? covered : query.commits.count
    }

    /// - Returns: whether the pair is in the window and covered.
    private mutating func add(commit index: Int, enterNs: Int64?, _ view: View) -> Bool {
        let record = records[index]
        guard view.window.contains(record.dueNs) else { return false }
        pairs += 1
        delivery.record(record.committedNs, enterNs, seenUntil: view.endNs)
        endToEnd.record(record.dueNs, enterNs, seenUntil: view.endNs)
        told[index].untilNs = view.endNs
        writeToCallback.record(record.beginNs, enterNs, seenUntil: view.endNs)
        guard let enterNs else {
            told[index].missing += 1
            return false
        }
        if let doubtNs = view.doubtNs, case let earlierNs = record.beginNs - enterNs, earlierNs > doubtNs,
            earlierNs > impossible?.earlierNs ?? 0
        {
            impossible = (earlierNs, record.version)
        }
        coveredPairs += 1
        endToEndOverTime.add(
            atNs: record.dueNs - view.window.startNs + window.startNs, value: Double(enterNs - record.dueNs))
        told[index].firstNs = min(told[index].firstNs, enterNs)
        told[index].lastNs = max(told[index].lastNs, enterNs)
        told[index].observers += 1
        return true
    }

    /// Time from each commit until its last observer was called.
    var lastDelivery: LatencyHistogram {
        var latencies = LatencyHistogram()
        for (record, told) in zip(records, told) where told.observers + told.missing > 0 {
            latencies.record(record.committedNs, told.missing > 0 ? nil : told.lastNs, seenUntil: told.untilNs)
        }
        return latencies
    }

    /// Time from the first observer's callback to the last one's, over commits that affect more than one observer.
    var fanoutSpan: LatencyHistogram {
        var spans = LatencyHistogram()
        for told in told where told.observers + told.missing > 1 {
            let firstNs = told.observers > 0 ? told.firstNs : told.untilNs
            spans.record(firstNs, told.missing > 0 ? nil : told.lastNs, seenUntil: told.untilNs)
        }
        return spans
    }

    /// Covered pairs per callback; nil without callbacks.
    var coalescingRatio: Double? { callbacks > 0 ? Double(coveredPairs) / Double(callbacks) : nil }
}

/// Assigns each commit the callback that covers it: the first one whose version reaches the commit's. Every affecting
/// commit counts, even if one callback covers many; one sample per callback would give waiting too little weight.
enum Coverage {
    /// Calls `body` for each affecting commit in version order, with the index of the covering callback or nil.
    /// O(commits + callbacks).
    /// - Parameters:
    ///   - commitVersions: versions of the affecting commits, ascending.
    ///   - callbackVersion: returns the version of a callback, in order of arrival. A lower one covers nothing new.
    static func forEach(
        commitVersions: some Sequence<Int64>, callbackCount: Int, callbackVersion: (Int) -> Int64,
        _ body: (_ commit: Int, _ callback: Int?) -> Void
    ) {
        var callback = 0
        for (commit, version) in commitVersions.enumerated() {
            while callback < callbackCount, callbackVersion(callback) < version { callback += 1 }
            body(commit, callback < callbackCount ? callback : nil)
        }
    }
}
