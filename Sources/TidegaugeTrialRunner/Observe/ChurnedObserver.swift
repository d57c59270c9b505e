// An observer that checks: the first delivery alone is initial, versions do not decrease, no call follows cancellation.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure

/// An observer with a short life. Used on its delivery context; `isCalled` and `fail` from any thread.
final class ChurnedObserver: DeliverySink {
    let name: String
    private let found: ChurnFindings
    private let called = Atomic<Bool>(false)
    private let last = DeliveryBound<Int64>(.min)
    private let isCancelled = DeliveryBound(false)
    /// Times and versions of its calls; empty unless they are recorded.
    private let told = DeliveryBound<[PassingLog.Callback]>([])
    private let isRecorded: Bool

    init(_ name: String, _ found: ChurnFindings, isRecorded: Bool = false) {
        (self.name, self.found, self.isRecorded) = (name, found, isRecorded)
    }

    /// Times and versions of its calls; empty unless they are recorded. Read after the delivery context has been waited
    /// for.
    var callbacks: [PassingLog.Callback] {
        told.claim()
        return told.value
    }

    var isCalled: Bool { called.load(ordering: .acquiring) }

    /// Marks the observer as cancelled; a later call is a violation.
    func end() { isCancelled.value = true }

    func deliver(_ delivery: borrowing Delivery) {
        let enterNs = isRecorded ? MonotonicClock.nowNs() : 0
        let version = delivery.version ?? 0
        if isRecorded, !isCancelled.value { told.value.append(.init(enterNs: enterNs, version: version)) }
        if isCancelled.value {
            complain(
                "call after cancel: \(name) was called (version \(version)) after its subscription had been cancelled")
        } else if delivery.isInitial == called.load(ordering: .relaxed) {
            complain(
                "first is initial: \(name) was called for the \(delivery.isInitial ? "second time with" : "first time without") "
                    + "an initial delivery (version \(version))")
        } else if version < last.value {
            complain("monotonicity: \(name) was called at version \(version) after \(last.value)")
        }
        last.value = max(last.value, version)
        called.store(true, ordering: .releasing)
    }

    func fail(_ error: any Error) { complain("call after cancel: the engine gave up on \(name): \(error)") }

    private func complain(_ violation: String) { found.withLock { $0.append(violation) } }
}

/// The callbacks of a query that was observed for a part of the load.
struct PassingLog: Sendable {
    struct Callback: Sendable, Equatable {
        var enterNs: Int64
        var version: Int64
    }

    var query: Query
    var callbacks: [Callback]
    /// Time of the cancellation, or of the last look.
    var endNs: Int64
}

typealias ChurnFindings = Guarded<[String]>
