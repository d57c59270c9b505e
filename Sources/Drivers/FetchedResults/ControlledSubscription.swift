// One controller and its delegate, who turns what it is told change by change back into one delivery. On the site, but for
// `cancel`.
import FetchedResults
import LiveStore
import StoreDriver

final class ControlledSubscription: ControlledObserver {
    // Both are the site's own.
    nonisolated(unsafe) private let controller: FetchedResultsController<ShownRow>
    nonisolated(unsafe) private let delegate: RowDelegate
    private let sink: CancellableSink
    /// What ends the controller from any thread.
    private let token: NotificationToken?

    init(_ controller: FetchedResultsController<ShownRow>, _ sink: any DeliverySink) throws {
        self.controller = controller
        self.sink = CancellableSink(sink)
        delegate = RowDelegate(self.sink)
        controller.delegate = delegate
        try controller.performFetch()
        token = controller.notificationToken
        // What is shown now is the beginning; the delegate is told what follows.
        let count = controller.sections.reduce(0) { $0 + $1.objectCount }
        self.sink.deliver(Delivery(version: Int64(controller.connection.version), isInitial: true, count: count))
    }

    func isOf(_ connection: Connection) -> Bool { controller.connection === connection }

    func refresh() throws { _ = try controller.refresh() }

    func cancel() {
        sink.cancel()
        token?.invalidate()
    }

    func currentItems() throws -> [Item] { controller.fetchedObjects.map(\.item) }

    /// There is one section.
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        guard let count = controller.sections.first?.objectCount else { return }
        for index in indices.clamped(to: 0..<count) {
            body(controller.object(at: RowPath(section: 0, row: index)).item)
        }
    }
}

/// Collects what it is told between `will` and `did`. There is one section.
final class RowDelegate: FetchedResultsControllerDelegate {
    typealias Object = ShownRow

    private let sink: CancellableSink
    private var deletions: [Int] = []
    private var insertions: [Int] = []
    private var modifications: [Int] = []
    private var moves = 0

    init(_ sink: CancellableSink) { self.sink = sink }

    func controllerWillChangeContent(_ controller: FetchedResultsController<ShownRow>) {
        deletions = []
        insertions = []
        modifications = []
        moves = 0
    }

    func controller(
        _ controller: FetchedResultsController<ShownRow>, didChange object: SafeObject<ShownRow>, at path: RowPath?,
        for type: FetchedChangeType, newPath: RowPath?
    ) {
        switch type {
        case .insert: insertions.append(newPath!.row)
        case .delete: deletions.append(path!.row)
        case .move:
            deletions.append(path!.row)
            insertions.append(newPath!.row)
            moves += 1
        case .update: modifications.append(newPath!.row)
        }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ShownRow>) {
        if deletions.isEmpty, insertions.isEmpty, modifications.isEmpty { return }
        sink.deliver(
            Delivery(
                version: Int64(controller.connection.version), isInitial: false,
                count: controller.sections.reduce(0) { $0 + $1.objectCount }, deletions: deletions.sorted(),
                insertions: insertions.sorted(), modifications: modifications.sorted(), moveCount: moves))
    }

    func controller(_ controller: FetchedResultsController<ShownRow>, didFailWith error: StoreError) {
        sink.fail(error)
    }
}
