// Observers that are replaced while writers write, like lists on screens. Each is cancelled from another thread,
// possibly before its first delivery, and must not be called afterwards. If the driver can forget a delivery context,
// the contexts are replaced too.
//
// A lock guards the findings. Observers and contexts belong to the churning thread between `begin` and the join in
// `end`, and to the conducting thread otherwise.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The observers that are replaced during one trial.
///
/// Unchecked because its observers and contexts belong to one of two threads at a time.
final class Churn: Companion, @unchecked Sendable {
    /// Mean pause in ns between two replacements.
    private static let pauseNs = 4_000_000
    /// Number of observers that a delivery context serves before it is replaced, if the store can forget it.
    private static let livesOfASite = 8

    private final class Slot {
        var site: DeliveryContext
        var lives = 0
        var observer: ChurnedObserver?
        var subscription: (any DriverSubscription)?

        init(_ site: DeliveryContext) { self.site = site }
    }

    private let spec: TrialSpec
    private let query: Query
    private let store: any DrivenStore
    /// The store, if it can forget delivery contexts; otherwise nil.
    private let forgetting: (any SiteForgetting)?
    private let slots: [Slot]
    private let isOver = Atomic<Bool>(false)
    private let found = ChurnFindings("churn findings", [])
    private var thread: TracedThread?
    private var fault: (any Error)?
    /// Number of observers made so far.
    private var made = 0

    /// Makes the first observers. Returns nil if the trial has no churn or no query.
    init?(_ setup: TrialSetup) throws {
        (spec, store) = (setup.spec, setup.store)
        guard let count = spec.observers.churn, count > 0, let query = setup.plan.queries.first else { return nil }
        self.query = query
        forgetting = store as? any SiteForgetting
        try ObserverGroup.checkOpenFiles(threads: count, spec)
        slots = (0..<count).map { Slot(DeliveryContext("churn-\($0)", setup.spec.observers.deliver)) }
        for slot in slots { try replace(slot) }
    }

    func begin(_ window: Window) { thread = TracedThread("churn") { [self] in run() } }

    private func run() {
        var random = RandomSource(seed: spec.seed, stream: 6_000_000)
        do {
            while !isOver.load(ordering: .acquiring) {
                for slot in slots {
                    try replace(slot)
                    Pacing.sleep(untilNs: MonotonicClock.nowNs() + Int64(random.below(2 * Self.pauseNs)))
                }
            }
        } catch {
            fault = error
        }
    }

    private func replace(_ slot: Slot) throws {
        cancel(slot)
        if slot.lives == Self.livesOfASite, forgetting != nil {
            try end(slot)
            slot.site = DeliveryContext(slot.site.name, spec.observers.deliver)
            slot.lives = 0
        }
        slot.lives += 1
        let observer = ChurnedObserver("churned observer \(made)", found)
        made += 1
        slot.observer = observer
        slot.subscription = try slot.site.run(timeoutNs: spec.hangTimeoutNs) { [store, query, site = slot.site] in
            try store.subscribe(to: query, at: site.deliverySite, sink: observer)
        }
    }

    private func cancel(_ slot: Slot) {
        guard let observer = slot.observer, let subscription = slot.subscription else { return }
        subscription.cancel()
        slot.observer = nil
        slot.subscription = nil
        // A delivery may have begun earlier and not have reached the observer yet. Calls of a delivery context are
        // serial, so a delivery after this block began after the cancellation.
        slot.site.perform { withExtendedLifetime(subscription) { observer.end() } }
    }

    private func end(_ slot: Slot) throws {
        try slot.site.run(timeoutNs: spec.hangTimeoutNs) { [forgetting, site = slot.site] in
            try forgetting?.forget(site.deliverySite)
        }
        slot.site.stop()
    }

    /// Stops the replacement of observers. Call it after the load.
    func end(into findings: inout Findings) throws {
        isOver.store(true, ordering: .releasing)
        thread?.join()
        thread = nil
        if let fault { throw fault }
        // Waits until the cancellations have run on every delivery context.
        for slot in slots { try slot.site.run(timeoutNs: spec.hangTimeoutNs) {} }
        findings.counts["churned_observers"] = made
    }

    /// Waits until every remaining observer has been called once, or reports the first that has not before a
    /// `HangDeadline` of `hang_timeout`. Cancels them.
    func cancel() throws {
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        while let slot = slots.first(where: { $0.observer?.isCalled == false }) {
            if deadline.hasPassed() {
                found.withLock { $0.append("convergence: \(slot.observer!.name) has had no initial delivery") }
                break
            }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
        }
        for slot in slots { cancel(slot) }
    }

    /// Stops the delivery contexts and reports violations. Call it after the last commit.
    func close(into findings: inout Findings) throws {
        for slot in slots {
            try slot.site.run(timeoutNs: spec.hangTimeoutNs) {}
            slot.site.stop()
        }
        findings.violations += found.withLock { $0 }
    }
}
