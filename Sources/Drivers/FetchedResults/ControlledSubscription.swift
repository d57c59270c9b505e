// A fetched-results controller and its delegate, which combines the individual changes into one delivery.
import FetchedResults
import StillingWell
import StillingWellSync
import TidegaugeDriver

final class ControlledSubscription: ControlledObserver {
    private let controller: DeliveryBound<FetchedResultsController<ShownRow>>
    private let delegate: DeliveryBound<RowDelegate>
    private let sink: CancellableSink
    private let connection: ObjectIdentifier
    /// Token with which any thread ends the controller.
    private let token: NotificationToken?

    init(_ controller: FetchedResultsController<ShownRow>, _ sink: any DeliverySink) throws {
        self.controller = DeliveryBound(here: controller)
        connection = ObjectIdentifier(controller.connection)
        self.sink = CancellableSink(sink)
        let delegate = RowDelegate(self.sink)
        self.delegate = DeliveryBound(here: delegate)
        controller.delegate = delegate
        try controller.performFetch()
        token = controller.notificationToken
        // The current rows are the initial delivery; the delegate gets later changes.
        let count = controller.sections.reduce(0) { $0 + $1.objectCount }
        self.sink.deliver(Delivery(version: Int64(controller.connection.version), isInitial: true, count: count))
    }

    /// Any thread.
    func isOf(_ connection: Connection) -> Bool { self.connection == ObjectIdentifier(connection) }

    func refresh() throws { _ = try controller.value.refresh() }

    func cancel() {
        sink.cancel()
        token?.invalidate()
    }

    func currentItems() throws -> [Item] { controller.value.fetchedObjects.map(\.item) }

    /// Reads the first section, because the request makes no others.
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        guard let count = controller.value.sections.first?.objectCount else { return }
        for index in indices.clamped(to: 0..<count) {
            body(controller.value.object(at: RowPath(section: 0, row: index)).item)
        }
    }
}

/// Collects the changes between `controllerWillChangeContent` and `controllerDidChangeContent`. The request makes no
/// sections, so a row's index in its section is that in the result.
final class RowDelegate: FetchedResultsControllerDelegate {
    typealias Object = ShownRow

    private let sink: CancellableSink
    private var told = RowDelegate.nothing

    private static var nothing: Delivery { Delivery(version: nil, isInitial: false, count: 0) }

    init(_ sink: CancellableSink) { self.sink = sink }

    func controllerWillChangeContent(_ controller: FetchedResultsController<ShownRow>) { told = Self.nothing }

    func controller(
        _ controller: FetchedResultsController<ShownRow>, didChange object: SafeObject<ShownRow>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?
    ) {
        switch type {
        case .insert: told.insertions.append(newPath!.row)
        case .delete: told.deletions.append(path!.row)
        case .move:
            told.deletions.append(path!.row)
            told.insertions.append(newPath!.row)
            told.moveCount += 1
        case .update: told.modifications.append(newPath!.row)
        }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ShownRow>) {
        if told.deletions.isEmpty, told.insertions.isEmpty, told.modifications.isEmpty { return }
        told.version = Int64(controller.connection.version)
        told.count = controller.sections.reduce(0) { $0 + $1.objectCount }
        for list in [\Delivery.deletions, \.insertions, \.modifications] { told[keyPath: list].sort() }
        sink.deliver(told)
    }

    func controller(_ controller: FetchedResultsController<ShownRow>, didFailWith error: StoreError) {
        sink.fail(error)
    }
}
