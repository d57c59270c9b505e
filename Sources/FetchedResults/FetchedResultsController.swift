// The controller: a fetch request kept true on a connection, told to a delegate change by change.
//
// It has no lock and no thread: everything is on its connection's scheduler.
import StillingWell
import StillingWellBasis

/// Shows the objects of a fetch request in sections, and tells a delegate of changes in the manner of
/// NSFetchedResultsController. Belongs to its connection's scheduler.
///
/// The query is evaluated when it is read first, or in the background if nobody reads; its upkeep is always in the
/// background, and no thread waits for another one's delegate.
///
/// Between two batches it shows what its connection shows, whose own writes are there at once and are told later: who
/// reads everything anew does so after `performFetch`, or where nothing of its own is still to be told. While a batch is
/// told it shows that batch, and nothing else.
public final class FetchedResultsController<Object: StoredObject> {
    /// The connection it belongs to.
    public let connection: Connection
    /// What is shown. A new one holds from the next `performFetch` on.
    public var fetchRequest: FetchRequest<Object>
    /// The name of the file that section names and sizes are kept in from one run of the program to the next, with the
    /// version that they are of; nil keeps none. Written when the first batch is told, and by `invalidate`; a controller
    /// that is let go of on another thread than its connection's leaves the file as it is.
    public let cacheName: String?
    /// Is told of changes. Held weakly.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
    /// The token behind it, for `write(withoutNotifying:)`; nil before the first fetch.
    public private(set) var notificationToken: NotificationToken?

    private let keyPaths: [PartialKeyPath<Object>]?
    private var rows: FetchedRows<Object>?
    /// What was shown when it was read first, until the first delivery says what has changed since.
    private var readBeforeDelivery: EarlyRows?
    private var isDelivered = false
    private var batch: FetchedBatch?

    /// A controller that shows nothing before `performFetch`.
    /// - Parameters:
    ///   - connection: a live one. The delegate is told on its scheduler.
    ///   - keyPaths: the properties whose changes are updates; nil means all.
    ///   - cacheName: a file name; two controllers of one store with the same name and another request overwrite each
    ///     other's.
    public init(
        _ connection: Connection, _ request: FetchRequest<Object>, keyPaths: [PartialKeyPath<Object>]? = nil,
        cacheName: String? = nil
    ) {
        self.connection = connection
        fetchRequest = request
        self.keyPaths = keyPaths
        self.cacheName = cacheName
    }

    deinit {
        // The last reference may go anywhere; what is shown can be read on the connection's scheduler only.
        if connection.placeCheck() { keepCache() }
        end()
    }

    // MARK: Fetching

    /// Shows what the request asks for, from now on, and begins to tell of changes. Evaluates nothing itself; what
    /// follows is told relative to what was read.
    /// - Throws: `unknownModel`, `noScheduler` on a connection that lives for one block, `closed`.
    public func performFetch() throws {
        let rows = try fetchRequest.rows(on: connection)
        end()
        self.rows = rows
        cachedSections = readCache(rows)
        notificationToken = try rows.query.observe(keyPaths: keyPaths) { [weak self] in self?.tell($0) }
    }

    /// Tells of everything committed so far before it returns.
    /// - Returns: whether there was anything newer.
    /// - Throws: as `Connection.refresh`.
    @discardableResult
    public func refresh() throws -> Bool { try connection.refresh() }

    /// Tells nothing more. It keeps showing, until it is gone.
    public func invalidate() {
        keepCache()
        end()
    }

    private func end() {
        notificationToken?.invalidate()
        notificationToken = nil
        readBeforeDelivery = nil
        isDelivered = false
        batch = nil
    }

    // MARK: What is shown

    /// The sections. Evaluates the query if nobody has. O(sections · log n).
    public var sections: [FetchedSection<Object>] { shown.flatMap { rows?.sections(in: $0) } ?? [] }

    /// All objects, in order. O(n).
    public var fetchedObjects: [Object] { sections.flatMap { Array($0.objects) } }

    /// The object at a path. O(log n).
    public func object(at path: RowPath) -> Object {
        guard let shown, let rows else { stopProgram("\(FetchedResultsError.notFetched)") }
        return rows.query.object(at: path, in: shown)
    }

    /// The path of an object; nil where it is not shown. O(log n); O(n) once in a batch.
    /// - Throws: `StoreError.otherStore`: the identity of another store's object may be that of another one here.
    public func path(of object: Object) throws -> RowPath? {
        guard let id = object.objectID, let store = object.connection?.store else { return nil }
        guard store.folder == connection.store.folder else {
            throw StoreError.otherStore(path: store.folder, used: connection.store.folder)
        }
        guard let batch else { return shown.flatMap { _ in rows?.query.path(of: id) } }
        return batch.path(of: id)
    }

    /// The titles of an index at the side of a list, one per section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// The first section with an index title; nil where there is none.
    public func section(forIndexTitle title: String) -> Int? { sectionIndexTitles.firstIndex(of: title) }

    /// Sections, and what changed in them, as a sequence for any task: first the sections as they are. Of the request
    /// that was fetched last.
    /// - Throws: `notFetched`, `closed`.
    public func changes() throws -> LiveChanges<SectionedUpdate> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return try rows.query.changes(keyPaths: keyPaths)
    }

    /// The same for targets of this package that offer changes in other forms.
    /// - Parameter makeOutput: given nil for what there is at first.
    /// - Returns: what makes one subscription after the other.
    package func feeds<Output>(_ makeOutput: @escaping (SectionedChangeSet?) -> Output) throws -> () -> Feed<Output> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return { [keyPaths] in rows.query.makeFeed(keyPaths: keyPaths, makeOutput) }
    }

    /// The rows, for somebody who reads them; nil before the first fetch.
    private var shown: SectionedRows? {
        if let batch { return batch.rows }
        guard let rows else { return nil }
        guard !isDelivered, readBeforeDelivery == nil else { return rows.query.shown }
        let early = rows.query.early
        readBeforeDelivery = early
        return early.rows
    }

    // MARK: Telling

    private func tell(_ change: SectionedRowsChange) {
        switch change {
        case .initial(let new):
            isDelivered = true
            keepCache()
            guard let early = readBeforeDelivery.take(), let rows else { return tell(.none, from: new, to: new) }
            do throws(StoreError) {
                let changes = try rows.query.changes(from: early, to: new, keyPaths: keyPaths)
                tell(changes, from: early.rows, to: new)
            } catch {
                delegate?.controller(self, didFailWith: error)
            }
        case .update(let changes, let old, let new): tell(changes, from: old, to: new)
        case .failed(let error): delegate?.controller(self, didFailWith: error)
        }
    }

    /// Tells a batch to who is the delegate now, for as long as that is so and nobody fetches anew or ends the controller.
    private func tell(_ changes: SectionedChangeSet, from old: SectionedRows, to new: SectionedRows) {
        guard let delegate, let rows else { return }
        let batch = FetchedBatch(before: old)
        self.batch = batch
        defer { if self.batch === batch { self.batch = nil } }
        func isOver() -> Bool { self.batch !== batch || self.delegate !== delegate }
        delegate.controllerWillChangeContent(self)
        if isOver() { return }
        batch.show(new)
        for change in FetchedChange.all(changes, new) {
            switch change {
            case .section(let index, let type):
                let section = rows.section(index, in: type == .delete ? old : new)
                delegate.controller(self, didChange: section, atSectionIndex: index, for: type)
            case .object(let id, let type, let path, let newPath):
                let object = SafeObject<Object>(id: id, in: connection.store)
                delegate.controller(self, didChange: object, at: path, for: type, newPath: newPath)
            }
            if isOver() { return }
        }
        delegate.controllerDidChangeContent(self)
    }

    // MARK: The cache

    /// Names and sizes of the sections as they were kept the last time, where nothing has changed since: to be shown
    /// while the query is being evaluated. nil where there is no cache, or it is of another version or request; and
    /// always for sections by a function that has no name.
    public private(set) var cachedSections: [CachedSection]?

    private var cache: SectionCache? { cacheName.map { SectionCache($0, connection.store) } }

    private func readCache(_ rows: FetchedRows<Object>) -> [CachedSection]? {
        guard let cache, connection.showsDelivered else { return nil }
        guard let identity = rows.identity() else {
            cache.noteUnnamed()
            return nil
        }
        return cache.sections(identity, version: connection.version)
    }

    /// Keeps what has been delivered, at the version that it stands at: own writes since are of none yet.
    private func keepCache() {
        guard isDelivered, let cache, let rows, let delivered = rows.query.delivered, let identity = rows.identity()
        else { return }
        cache.keep(rows.cachedSections(of: delivered), identity, version: connection.version)
    }
}

/// What a program has done wrong with a controller or a change logger.
public enum FetchedResultsError: Error, Equatable, CustomStringConvertible {
    /// Something was asked of a controller before its first `performFetch`.
    case notFetched
    /// A change was logged in a write whose end the logger does not see.
    case notLogged

    public var description: String {
        switch self {
        case .notFetched: "the controller has not fetched yet: call performFetch() first"
        case .notLogged:
            "a change was logged in a write whose end the change logger does not see: use store.writeWithNotification "
                + "or connection.writeWithNotification, and log in that write only"
        }
    }
}
