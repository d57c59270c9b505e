// The queries of a recorded workload that are watched for a part of it, as those of screens are: each is subscribed when it
// was, and cancelled when it was. Each is measured while it lives: by the commits that are due between its first delivery and its
// end. That each is called once to begin with, and not any more once it is cancelled, is checked.
//
// What changes has a lock, which is a leaf.
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

    /// One of them begins or ends.
    struct Step: Equatable {
        /// From the start of the warm-up.
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
    /// Versions of late stores are tokens until the load is over, and nobody puts versions in their place here.
    private let isRecorded: Bool
    private let sleep: @Sendable (Int64) -> Void
    private let state = Guarded("passing queries", State())
    private let found = ChurnFindings("passing queries' findings", [])

    /// Nil where a trial has none.
    convenience init?(_ setup: TrialSetup) {
        guard let workload = setup.spec.workload, !workload.passing.isEmpty else { return nil }
        self.init(workload, setup.spec, setup.store) { Pacing.sleep(untilNs: $0) }
    }

    /// - Parameter sleep: returns at a time.
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

    /// What happens before the load ends, in order; of one moment, ends come first.
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

    /// Takes all steps, each at its time.
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
        // What comes to the site after this block has begun after it was cancelled.
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

    /// Those that are still watched are called once at least, and then cancelled.
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
