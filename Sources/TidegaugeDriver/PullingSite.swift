// Delivery for stores that only signal that a commit happened. A commit signals the delivery context, where all
// observers then read the newest version together. Commits in between are coalesced.
//
// No callback runs under the lock.
import StillingWellSync

/// A subscription that reads the newest version when asked to.
public protocol PullingSubscription: DriverSubscription {
    /// Any thread.
    var isCancelled: Bool { get }
}

/// The observers of one delivery context.
public final class PullingSite<Observer: PullingSubscription>: Sendable {
    private let observers = Guarded<[Observer]>("pulling site", [])
    private let signal = SetOnce<SiteSignal>()

    /// Creates the object on the delivery context.
    /// - Parameters:
    ///   - name: name of the signal in reports of waits, if the delivery context is a run loop.
    ///   - pull: called on the delivery context after `raise` or `add`, with the observers that are not cancelled. It
    ///     is retained as long as this object, so it should hold the store weakly.
    public init(_ site: DeliverySite, _ name: String, pull: @escaping @Sendable ([Observer]) -> Void) {
        signal.set(SiteSignal(site, name) { [weak self] in self.map { pull($0.living()) } })
    }

    private func living() -> [Observer] {
        observers.withLock { observers in
            observers.removeAll(where: \.isCancelled)
            return observers
        }
    }

    /// Adds an observer and schedules a delivery.
    public func add(_ observer: Observer) {
        observers.withLock { $0.append(observer) }
        raise()
    }

    /// Schedules a delivery after a commit. Any thread.
    public func raise() { signal.known?.raise() }

    /// Ends the signal and cancels all observers. Any thread.
    public func end() {
        signal.known?.invalidate()
        for observer in observers.replace(with: []) { observer.cancel() }
    }
}
