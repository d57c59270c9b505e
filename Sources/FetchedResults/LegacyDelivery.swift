// How RBQFetchedResultsController delivered, faithfully: on the thread that commits, under one lock, waiting for the
// delegate on another thread. The lock is held while user code runs and while a thread waits for a thread, which is what
// every deadlock in the history of such controllers was made of:
//
//     a background thread commits, takes `serial`, waits for the delegate's thread
//     the delegate's thread commits meanwhile, and waits for `serial`; or fetches anew, ends the controller, or asks
//     to be told of everything: each of these waits for `serial` too
//
// `serial` guards `told` and `hasFailed` of every controller there is.
import Dispatch
import LiveStore
import TracedSync
import TypedNotifications

/// Where the delegate of a controller in the mode `legacySynchronous` is told: where its connection is.
public enum LegacyPlace: Sendable {
    /// A serial queue; the main one for an interface.
    case queue(DispatchQueue)
    /// A thread with a run loop of its own.
    case thread(RunLoopThread)
    /// A run loop.
    case runLoop(RunLoopHandOff)

    func wait(for body: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): TracedQueue(queue).sync(body)
        // Nothing in the block throws.
        case .thread(let thread): try? thread.performAndWait(body)
        case .runLoop(let loop): loop.performAndWait(body)
        }
    }
}

/// The section in which changes of all controllers are worked out and told.
private let serial = TracedMutex("fetched results serial section")

/// One controller's way of hearing of commits.
final class LegacyDelivery<Object: StoredObject>: @unchecked Sendable {
    private let store: Store
    private let request: FetchRequest<Object>
    private let place: LegacyPlace
    private let isThere: @Sendable () -> Bool
    private let tell: (Outcome) -> Void
    private var told: SectionedRows
    private var hasFailed = false
    private var subscription: NotificationSubscription?

    /// What changed, from which rows to which, or why there is nothing to be told any more.
    typealias Outcome = Result<(changes: SectionedChangeSet, old: SectionedRows, new: SectionedRows), any Error>

    /// On the delegate's thread.
    init(
        _ connection: Connection, _ request: FetchRequest<Object>, _ place: LegacyPlace,
        _ tell: @escaping (Outcome) -> Void
    ) throws {
        store = connection.store
        isThere = connection.placeCheck
        self.request = request
        self.place = place
        self.tell = tell
        // Between two commits, and not in the middle of one being told.
        let store = store
        told = try serial.withLock { try store.read { try request.rows(on: $0).query.shown } }
        subscription = NotificationManager.shared.addListener { [weak self] in self?.process($0) }
    }

    /// Nothing is being told any more once it has returned.
    func end() {
        subscription?.cancel()
        serial.withLock {}
    }

    /// Returns once everything committed so far has been told.
    func catchUp() { serial.withLock {} }

    /// On the thread that has committed.
    private func process(_ changes: EntityChanges) {
        guard changes.path == store.configuration.path else { return }
        serial.withLock {
            if hasFailed { return }
            let outcome = Outcome { try difference(changes) }
            if case .success(let (changes, _, _)) = outcome, changes.isEmpty { return }
            if isThere() { tell(outcome) } else { place.wait { [self] in tell(outcome) } }
        }
    }

    /// Holding `serial`.
    private func difference(_ changes: EntityChanges) throws -> (SectionedChangeSet, SectionedRows, SectionedRows) {
        do {
            let new = try store.read { try request.rows(on: $0).query.shown }
            let changed = Set(changes.changed(Object.self).map(\.id))
            let old = told
            told = new
            return (old.changes(to: new).keepingModifications { changed.contains(new.objectID(at: $0)) }, old, new)
        } catch {
            hasFailed = true
            throw error
        }
    }
}
