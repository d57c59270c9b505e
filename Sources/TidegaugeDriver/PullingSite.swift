// How a store delivers that only says that something was committed: a commit raises the site, and there all who observe
// look at what is newest, together. However many commits came meanwhile, they look once.
//
// Nothing is called under the lock.
import StillingWellSync

/// A subscription that is asked to look.
public protocol PullingSubscription: DriverSubscription {
    /// Any thread.
    var isCancelled: Bool { get }
}

/// Those who observe on one site.
public final class PullingSite<Observer: PullingSubscription>: Sendable {
    private let observers = Guarded<[Observer]>("pulling site", [])
    /// Set by `init`, before anybody else has the object.
    nonisolated(unsafe) private var signal: SiteSignal?

    /// On the site.
    /// - Parameters:
    ///   - name: in reports of waits.
    ///   - pull: shows what is newest to all who observe here and are not cancelled; on the site. It is held until the
    ///     site ends, so it should hold the store weakly.
    public init(_ site: DeliverySite, _ name: String, pull: @escaping @Sendable ([Observer]) -> Void) {
        signal = SiteSignal(site, name) { [weak self] in self.map { pull($0.living()) } }
    }

    private func living() -> [Observer] {
        observers.withLock { observers in
            observers.removeAll(where: \.isCancelled)
            return observers
        }
    }

    /// The observer is shown what there is soon, and what comes then.
    public func add(_ observer: Observer) {
        observers.withLock { $0.append(observer) }
        raise()
    }

    /// After a commit; any thread.
    public func raise() { signal?.raise() }

    /// Cancels everyone. No delivery starts after it returns. Any thread.
    public func end() {
        signal?.invalidate()
        for observer in observers.replace(with: []) { observer.cancel() }
    }
}
