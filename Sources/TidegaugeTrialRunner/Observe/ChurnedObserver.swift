// An observer that is watched for being called once to begin with, in order, and never again once it is gone.
import StillingWellSync
import Synchronization
import TidegaugeDriver

/// An observer that comes and goes. On its site; `isCalled` from any thread.
final class ChurnedObserver: DeliverySink {
    let name: String
    private let found: ChurnFindings
    private let called = Atomic<Bool>(false)
    // Both are the site's own.
    nonisolated(unsafe) private var last: Int64 = .min
    nonisolated(unsafe) private var isCancelled = false

    init(_ name: String, _ found: ChurnFindings) { (self.name, self.found) = (name, found) }

    var isCalled: Bool { called.load(ordering: .acquiring) }

    /// Nobody may call it from now on.
    func end() { isCancelled = true }

    func deliver(_ delivery: borrowing Delivery) {
        let version = delivery.version ?? 0
        if isCancelled {
            complain("silence: \(name) was called (version \(version)) after its subscription had been cancelled")
        } else if delivery.isInitial == called.load(ordering: .relaxed) {
            complain(
                "first is initial: \(name) was called for the \(delivery.isInitial ? "second time with" : "first time without") "
                    + "an initial delivery (version \(version))")
        } else if version < last {
            complain("monotonicity: \(name) was called at version \(version) after \(last)")
        }
        last = max(last, version)
        called.store(true, ordering: .releasing)
    }

    func fail(_ error: any Error) { complain("silence: the engine gave up on \(name): \(error)") }

    private func complain(_ violation: String) { found.withLock { $0.append(violation) } }
}

typealias ChurnFindings = Guarded<[String]>
