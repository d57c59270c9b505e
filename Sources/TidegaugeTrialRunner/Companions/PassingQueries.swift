// The queries of a recorded workload that are observed for a part of it, like those of screens. Each is subscribed at
// its recorded time, and cancelled at its recorded end or after the load. `ChurnedObserver` checks its deliveries.
//
// A lock guards the state, and another one the findings.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class PassingQueries: Companion, Sendable {
    private struct Watched {
        let observer: ChurnedObserver
        let subscription: any DriverSubscription
    }

    private struct State {
        var thread: TracedThread?
        var watched: [Int: Watched] = [:]
        var made = 0
        var ended: [PassingLog] = []
        var fault: (any Error)?
    }

    /// The beginning or the end of a query.
    struct Step: Equatable {
        /// Time in ns from the start of the warm-up.
        var atNs: Int64
        var query: Int
        var begins: Bool
    }

    private let store: any DrivenStore
    private let queries: [Query]
    private let steps: [Step]
    private let warmUpNs: Int64
    private let timeoutNs: Int64
    private let site: DeliveryContext
    /// False for stores whose versions are tokens until the load ends, because they are not converted here.
    private let isRecorded: Bool
    private let sleep: @Sendable (Int64) -> Void
    private let state = Guarded("passing queries", State())
    private let found = ChurnFindings("passing queries' findings", [])

    /// Nil if the trial has no such queries.
    convenience init?(_ setup: TrialSetup) {
        guard let workload = setup.spec.workload, !workload.passing.isEmpty else { return nil }
        self.init(workload, setup.spec, setup.store) { Pacing.sleep(untilNs: $0) }
    }

    /// - Parameter sleep: sleeps until a given time.
    init(
        _ workload: WorkloadSpec, _ spec: TrialSpec, _ store: any DrivenStore,
        sleep: @escaping @Sendable (Int64) -> Void
    ) {
        (self.store, self.sleep) = (store, sleep)
        isRecorded = !(store is any LateVersions)
        (warmUpNs, timeoutNs) = (spec.warmUpNs, spec.hangTimeoutNs)
        queries = workload.passing.map { workload.query($0) }
        steps = Self.steps(workload.passing, endNs: spec.warmUpNs + spec.durationNs)
        site = DeliveryContext("passing", spec.observers.deliver)
    }

    /// Returns the steps before the end of the load in order; at the same time, ends come before beginnings.
    static func steps(_ watches: [WorkloadSpec.Watch], endNs: Int64) -> [Step] {
        var steps: [Step] = []
        for (query, watch) in watches.enumerated() where watch.fromNs < endNs {
            steps.append(Step(atNs: watch.fromNs, query: query, begins: true))
            guard let untilNs = watch.untilNs, untilNs < endNs else { continue }
            steps.append(Step(atNs: untilNs, query: query, begins: false))
        }
        return steps.sorted { ($0.atNs, $0.begins ? 1 : 0, $0.query) < ($1.atNs, $1.begins ? 1 : 0, $1.query) }
    }

    func warmUp(_ window: Window) {
        let startNs = window.startNs - warmUpNs
        let thread = TracedThread("passing") { [self] in
            do { try run(from: startNs) } catch { state.withLock { $0.fault = error } }
        }
        state.withLock { $0.thread = thread }
    }

    func run(from startNs: Int64) throws {
        for step in steps {
            sleep(startNs + step.atNs)
            if step.begins { try begin(step.query) } else { end(step.query) }
        }
    }

    private func begin(_ query: Int) throws {
        let observer = ChurnedObserver("passing query \(query)", found, isRecorded: isRecorded)
        let subscription = try site.run(timeoutNs: timeoutNs) { [store, queries, site] in
            try store.subscribe(to: queries[query], at: site.deliverySite, sink: observer)
        }
        state.withLock {
            $0.watched[query] = Watched(observer: observer, subscription: subscription)
            $0.made += 1
        }
    }

    private func end(_ query: Int) {
        guard let watched = state.withLock({ $0.watched.removeValue(forKey: query) }) else { return }
        let endNs = MonotonicClock.nowNs()
        watched.subscription.cancel()
        // A delivery that runs after this block began after the cancellation.
        site.perform { [self] in
            withExtendedLifetime(watched.subscription) { watched.observer.end() }
            let log = PassingLog(query: queries[query], callbacks: watched.observer.callbacks, endNs: endNs)
            state.withLock { $0.ended.append(log) }
        }
    }

    func end(into findings: inout Findings) throws {
        state.withLock { $0.thread.take() }?.join()
        let (fault, made) = state.withLock { ($0.fault, $0.made) }
        if let fault { throw fault }
        findings.counts["passing_queries"] = made
        guard isRecorded else { return }
        findings.passing = try site.run(timeoutNs: timeoutNs) { [self] in
            let endNs = MonotonicClock.nowNs()
            let (watched, ended) = state.withLock { ($0.watched, $0.ended) }
            return ended
                + watched.map { PassingLog(query: queries[$0], callbacks: $1.observer.callbacks, endNs: endNs) }
        }
    }

    /// Waits until the observer of every remaining query has been called once or `hang_timeout` has passed, and cancels
    /// it.
    func cancel() throws {
        let watched = state.withLock { $0.watched }
        var deadline = HangDeadline(timeoutNs: timeoutNs)
        for (query, one) in watched.sorted(by: { $0.key < $1.key }) {
            while !one.observer.isCalled, !deadline.hasPassed() {
                Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
            }
            if !one.observer.isCalled {
                found.withLock { $0.append("convergence: \(one.observer.name) has had no initial delivery") }
            }
            end(query)
        }
    }

    func close(into findings: inout Findings) throws {
        try site.run(timeoutNs: timeoutNs) {}
        site.stop()
        findings.violations += found.withLock { $0 }
    }
}
