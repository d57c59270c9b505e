// Delivers like RBQFetchedResultsController: on the committing thread, under one lock, waiting for the delegate on
// another thread. The lock is held while user code runs and while a thread waits for another. The deadlock:
//
// A background thread commits, takes `serial` and waits for the delegate's thread. The delegate's thread meanwhile
// commits, subscribes, cancels or refreshes, each of which waits for `serial`.
import FetchedResults
import StillingWell
import StillingWellSync
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TypedNotifications

/// The lock under which the changes for all observers are computed and delivered.
private let serial = TracedMutex("fetched results serial section")

/// Delivers commits to one observer.
///
/// Unchecked because `serial` guards `told` and `hasFailed` of all observers, which is the flaw, and the rest is set
/// once or used on the delivery context only.
final class LegacyDelivery: ControlledObserver, @unchecked Sendable {
    /// The rows of a query and their version.
    private struct Rows {
        var version: Int64
        var items: [Item]

        init(_ query: Query, _ store: Store) throws {
            (version, items) = try store.read { connection in
                let results = ShownRow.results(query, try connection.objects(ShownRow.self))
                return (Int64(connection.version), results.map(\.item))
            }
        }
    }

    private let connection: Connection
    private let store: Store
    private let query: Query
    private let place: FlawedSite
    private let isThere: @Sendable () -> Bool
    private let sink: CancellableSink
    private var told: Rows
    private var hasFailed = false
    private var shown: [Item]
    private var listener: NotificationSubscription?

    /// Call it on the delivery context.
    init(_ connection: Connection, _ query: Query, _ site: DeliverySite, _ sink: any DeliverySink) throws {
        self.connection = connection
        store = connection.store
        self.query = query
        place = FlawedSite(site)
        isThere = connection.placeCheck
        self.sink = CancellableSink(sink)
        // Under the lock, so not in the middle of a delivery.
        let store = store
        let rows = try serial.withLock { try Rows(query, store) }
        told = rows
        shown = rows.items
        listener = NotificationManager.shared.addListener { [weak self] in self?.process($0) }
        self.sink.deliver(Delivery(version: rows.version, isInitial: true, count: rows.items.count))
    }

    deinit { place.end() }

    func isOf(_ connection: Connection) -> Bool { self.connection === connection }

    /// Waits for running deliveries, then refreshes the connection.
    func refresh() throws {
        serial.withLock {}
        _ = try connection.refresh()
    }

    /// Waits for a running delivery.
    func cancel() {
        sink.cancel()
        listener?.cancel()
        serial.withLock {}
    }

    func currentItems() -> [Item] { shown }

    /// Runs on the committing thread.
    private func process(_ changes: EntityChanges) {
        guard changes.path == store.configuration.path else { return }
        serial.withLock {
            if hasFailed { return }
            let outcome = Result { try Rows(query, store) }
            let old = told
            switch outcome {
            case .success(let new):
                told = new
                if new.items == old.items { return }
            case .failure: hasFailed = true
            }
            let tell: @Sendable () -> Void = { [self] in self.tell(old.items, outcome) }
            if isThere() { tell() } else { place.performAndWait(tell) }
        }
    }

    /// Runs on the delivery context.
    private func tell(_ old: [Item], _ outcome: Result<Rows, any Error>) {
        switch outcome {
        case .success(let new):
            shown = new.items
            sink.deliver(Delivery(from: old, to: new.items, version: new.version))
        case .failure(let error): sink.fail(error)
        }
    }
}

extension Delivery {
    /// Makes the change set between two states of a query's rows.
    fileprivate init(from old: [Item], to new: [Item], version: Int64) {
        let difference = new.map(\.key).difference(from: old.map(\.key)).inferringMoves()
        self.init(version: version, isInitial: false, count: new.count)
        for change in difference {
            switch change {
            case .remove(let offset, _, _): deletions.append(offset)
            case .insert(let offset, _, let from):
                insertions.append(offset)
                if from != nil { moveCount += 1 }
            }
        }
        deletions.sort()
        let stamps = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.stamp) })
        let arrived = Set(insertions)
        modifications = new.indices.filter { !arrived.contains($0) && stamps[new[$0].key] != new[$0].stamp }
    }
}
