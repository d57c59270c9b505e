// Observers of a trial and their delivery contexts. The conducting thread polls every millisecond, because waking it
// from callbacks would add work to them.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The observing side of one trial. `areAllCovered` and `behind` are for any thread, the rest for the conducting one.
final class ObserverGroup: Sendable {
    private static let lookEveryNs: Int64 = 1_000_000

    /// Number of callback records to prefault over all measured observers, unless 256 for each are more: about 9 MB.
    private static let prefaulted = 1 << 17

    let spec: TrialSpec
    /// Main observers first, then those of idle queries, as in `QueryAssignment.queryOfObserver`.
    let observers: [Observer]
    let sites: [DeliveryContext]
    /// The store if its versions are tokens until the load ends; otherwise nil.
    private let late: (any LateVersions)?

    /// Subscribes every observer on its delivery context.
    /// - Parameters:
    ///   - capabilities: of the driver; nil if callbacks do not sample or read rows.
    ///   - shelf: the store that observers open in their callbacks.
    init(
        _ spec: TrialSpec, _ plan: QueryAssignment, _ store: any DrivenStore,
        sampling capabilities: Capabilities? = nil, opening shelf: OpenedStore? = nil
    ) throws {
        self.spec = spec
        late = store as? any LateVersions
        let total = plan.queryOfObserver.count
        let count = min(spec.observers.threads, total)
        try Self.checkOpenFiles(threads: count, spec)
        let sites = (0..<count).map { DeliveryContext("observer-\($0)", spec.observers.deliver) }
        self.sites = sites
        observers = try plan.queryOfObserver.enumerated().map { index, query in
            let isIdle = index >= plan.mainObservers
            return try Observer(
                name: isIdle ? "idle query \(index - plan.mainObservers)" : "observer \(index)", query: query,
                site: sites[index % count], isIdle: isIdle,
                capacity: isIdle ? TrialSize.idleCallbacks(spec) : TrialSize.callbacks(spec),
                indexCapacity: isIdle ? 1024 : TrialSize.indices(spec),
                prefaulted: max(256, Self.prefaulted / max(plan.mainObservers, 1)),
                sampler: isIdle
                    ? nil : capabilities.flatMap { try RowSampler(index, plan.queries[query].order, spec, $0) },
                reader: isIdle || capabilities == nil ? nil : CallbackReader(spec, shelf))
        }
        for observer in observers { try Self.subscribe(observer, to: plan.queries[observer.query], store, spec) }
    }

    /// Number of descriptors per run-loop thread: an event, a timer and an epoll set.
    private static let filesPerRunLoop = 3
    /// Number of descriptors that the store and the probes may open later.
    private static let filesForOthers = 32

    /// Throws if the run loops of the observing threads would exceed the limit of open files: a run loop that gets none
    /// ends the process.
    static func checkOpenFiles(
        threads: Int, _ spec: TrialSpec, open: Int? = ProcessHoldings.openFiles,
        limit: Int = ProcessHoldings.openFileLimit
    ) throws {
        let needed = (open ?? 0) + threads * filesPerRunLoop + filesForOthers
        guard spec.observers.deliver == .runLoop, needed > limit else { return }
        throw TrialFault.refused(
            "\(threads) observing threads need about \(needed) open files, and this process may have \(limit): raise the "
                + "limit with 'ulimit -n \(needed)', or lower 'observers.threads'")
    }

    private static func subscribe(
        _ observer: Observer, to query: Query, _ store: any DrivenStore, _ spec: TrialSpec
    ) throws {
        try observer.site.run(timeoutNs: spec.hangTimeoutNs) { [site = observer.site] in
            observer.subscribedNs = MonotonicClock.nowNs()
            observer.subscription = try store.subscribe(to: query, at: site.deliverySite, sink: observer)
        }
    }

    /// Whether every measured observer has been called at `version` or later; any thread.
    func areAllCovered(_ version: Int64) -> Bool {
        observers.prefix(spec.observers.count).allSatisfy { covers($0, version) }
    }

    private func covers(_ observer: Observer, _ version: Int64) -> Bool {
        if let late { return late.shows(delivery: observer.covered, commit: version) }
        return observer.covered >= version
    }

    /// Names measured observers that have not been called at `version` or later, and their last versions; any thread.
    func behind(_ version: Int64) -> String {
        observers.prefix(spec.observers.count).compactMap { observer in
            let covered = observer.covered
            if covers(observer, version) { return nil }
            return covered == .min
                ? "'\(observer.name)' was never called" : "'\(observer.name)' was called at version \(covered) last"
        }.joined(separator: ", ")
    }

    /// Allocation counters of the observing threads. Nil for queues, or if allocations are not counted.
    var allocations: [ThreadAllocations]? {
        guard spec.observers.deliver == .runLoop else { return nil }
        let counters = sites.map { try? $0.run(timeoutNs: spec.hangTimeoutNs) { ThreadAllocations() } }
        return counters.allSatisfy { $0 != nil } ? counters.map { $0! } : nil
    }

    var callbacks: Int { observers.reduce(0) { $0 + $1.callbacks } }

    /// Returns once every observer has been called.
    func awaitInitialDeliveries() throws {
        var waiting = observers[...]
        try wait(until: {
            waiting = waiting.drop { $0.callbacks > 0 }
            return waiting.isEmpty
        }) {
            throw TrialFault.hang("\(waiting.first!.name) on \(waiting.first!.site.name) has had no initial delivery")
        }
    }

    /// Returns once no measured observer lacks a net change of its rows, or once no callback has come for
    /// `hang_timeout`. In the latter case, the oracle reports the missing callbacks.
    /// - Parameter standing: maps the version of a delivery to the version that it covers; nil if they are the same.
    func awaitQuiescence(_ history: History, standing: ((Int64) -> Int64)? = nil) throws {
        var waiting = observers.filter { !$0.isIdle }
        try wait(until: {
            waiting.removeAll { Self.isCurrent($0, standing?($0.covered) ?? $0.covered, history) }
            return waiting.isEmpty
        }) {}
    }

    /// Returns once `covers` is true for every measured observer, or once no callback has come for `hang_timeout`.
    func awaitCovering(_ covers: (Observer) -> Bool) throws {
        var waiting = observers.filter { !$0.isIdle }
        try wait(until: {
            waiting.removeAll(where: covers)
            return waiting.isEmpty
        }) {}
    }

    /// Whether the observer's rows have had no net change since its last version. Rows that came and went need none.
    private static func isCurrent(_ observer: Observer, _ covered: Int64, _ history: History) -> Bool {
        let query = history.queries[observer.query]
        guard let last = query.commits.last else { return true }
        if covered >= history.commits[Int(last)].record.version { return true }
        let first = query.affecting(before: history.covered(by: covered))
        // The net effect is computed for at most 64 commits; a longer backlog is still being delivered.
        return query.commits.count - first <= 64 && query.net(first..<query.commits.count).isEmpty
    }

    /// Adds one observer on every delivery context, and returns when each has been called once.
    func subscribeLate(to query: Query, _ store: any DrivenStore) throws -> [Observer] {
        let late = try sites.map { site in
            let subscriber = try Observer(
                name: "witness", query: -1, site: site, isIdle: true, capacity: 1024,
                indexCapacity: 1024)
            try Self.subscribe(subscriber, to: query, store, spec)
            return subscriber
        }
        try wait(until: { late.allSatisfy { $0.callbacks > 0 } }) {
            throw TrialFault.hang("a late subscription has had no initial delivery")
        }
        return late
    }

    /// Waits until late subscribers have been called at `version` and their delivery contexts have finished that
    /// delivery.
    /// - Returns: the subscribers that were not called within `hang_timeout`.
    func await(_ late: [Observer], covering version: Int64) throws -> [Observer] {
        try wait(until: { late.allSatisfy { covers($0, version) } }) {}
        for site in sites { try site.run(timeoutNs: spec.hangTimeoutNs) {} }
        return late.filter { !covers($0, version) }
    }

    private func wait(until isDone: () -> Bool, stuck: () throws -> Void) throws {
        var seen = callbacks
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        while !isDone() {
            for observer in observers { try observer.throwIfFailed() }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + Self.lookEveryNs)
            let now = callbacks
            if now != seen {
                seen = now
                deadline.restart()
            } else if deadline.hasPassed() {
                return try stuck()
            }
        }
    }

    /// Returns the records so far. Runs an empty block on every delivery context first, so that they are safe to read.
    func logs() throws -> [ObserverLog] {
        for site in sites { try site.run(timeoutNs: spec.hangTimeoutNs) {} }
        let logs = observers.map { ObserverLog($0) }
        for log in logs {
            if let loss = Self.loss(of: log.observer.name, log.observer.recorder, spec) {
                throw TrialFault.harness(loss)
            }
            try log.observer.throwIfFailed()
        }
        return logs
    }

    /// Returns the amounts that an observer's recorder had no room for, with the remedy, or nil if it kept everything.
    static func loss(of name: String, _ recorder: CallbackRecorder, _ spec: TrialSpec) -> String? {
        let (callbacks, indices) = (recorder.overflowCount, recorder.indexOverflowCount)
        var losses: [String] = []
        if callbacks > 0 {
            losses.append(
                "\(Humanised.count(callbacks, "callback")) more than the \(Humanised.grouped(recorder.capacity))")
        }
        if indices > 0 {
            losses.append(
                "\(Humanised.grouped(indices)) indices more than the \(Humanised.grouped(recorder.indexCapacity))")
        }
        guard !losses.isEmpty else { return nil }
        let keys =
            (spec.writers.load == .open ? ["writers.rate"] : []) + (indices > 0 ? ["writers.rows_per_commit"] : [])
        let remedy = keys.isEmpty ? "" : "lower \(keys.joined(separator: " or ")), or "
        return "the deliveries of \(name) had \(losses.joined(separator: " and ")) that can be recorded: \(remedy)"
            + "shorten duration"
    }

    func currentItems(of observer: Observer) throws -> [Item] {
        try observer.site.run(timeoutNs: spec.hangTimeoutNs) { try observer.subscription!.currentItems() }
    }

    /// Returns `seen` with the rows that the observer shows added to it; unchanged if it shows no whole rows.
    func wholeRows(of observer: Observer, _ seen: SeenRows) throws -> SeenRows {
        try observer.site.run(timeoutNs: spec.hangTimeoutNs) {
            var seen = seen
            if let subscription = observer.subscription as? any WholeRowSubscription {
                try subscription.forEachShownRow(0..<Int.max) { seen.look(at: $0) }
            }
            return seen
        }
    }

    func cancel() { for observer in observers { observer.subscription?.cancel() } }

    func stop() { for site in sites { site.stop() } }
}
