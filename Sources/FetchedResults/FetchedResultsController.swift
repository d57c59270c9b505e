// The controller: the results of a fetch request, kept current on a connection and reported to a delegate.
import StillingWell
import StillingWellBasis

/// Shows the objects of a fetch request in sections, and reports changes to a delegate in the manner of
/// NSFetchedResultsController. Belongs to its connection's scheduler.
///
/// The query is evaluated and maintained in the background. A read before that evaluation is delivered evaluates it on
/// the reading thread, too. No thread waits for another thread's delegate.
///
/// Between two batches it shows what its connection shows, including own writes that are reported later. So reload
/// everything only after `performFetch`, or when no own write is still to be reported. While a batch is reported it
/// shows that batch only.
public final class FetchedResultsController<Object: StoredObject> {
    /// Connection that the controller belongs to.
    public let connection: Connection
    /// Request for the content. A new one takes effect at the next `performFetch`.
    public var fetchRequest: FetchRequest<Object>
    /// Name of the file that keeps section names and sizes, with their version, for the next run of the program. nil
    /// keeps none, and a store in memory has none. Written at the first delivery after `performFetch`. After that, also
    /// by `invalidate`, and when the last reference is released on the connection's run loop or queue. If the reference
    /// is released elsewhere, or on an actor or executor, the file is not updated then.
    public let cacheName: String?
    /// Receiver of changes. Held weakly.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
    /// Token of the subscription, for `write(withoutNotifying:)`. nil without one, as before the first fetch.
    public private(set) var notificationToken: NotificationToken?

    private let keyPaths: [PartialKeyPath<Object>]?
    private var rows: FetchedRows<Object>?
    /// Rows read before the first delivery. The first report is relative to them.
    private var readBeforeDelivery: EarlyRows?
    private var isDelivered = false
    private var batch: FetchedBatch?

    /// Makes a controller that shows nothing before `performFetch`.
    /// - Parameters:
    ///   - connection: a live one. The delegate is called on its scheduler.
    ///   - keyPaths: properties whose changes are updates; nil for all.
    ///   - cacheName: a file name. Two controllers of one store with the same name and different requests overwrite
    ///     each other's file.
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
        // The last reference may be released on any thread. The content can be read on the connection's scheduler only.
        if connection.placeCheck() { keepCache() }
        end()
    }

    // MARK: Fetching

    /// Shows the results of the request from now on, and starts to report changes. Does not evaluate the query itself.
    /// Later changes are reported relative to what was read.
    /// - Throws: what `Connection.objects` and `SectionedResults.observe` throw.
    public func performFetch() throws {
        let rows = try fetchRequest.rows(on: connection)
        let token = try rows.query.observe(keyPaths: keyPaths) { [weak self] in self?.tell($0) }
        end()
        self.rows = rows
        cachedSections = readCache(rows)
        notificationToken = token
    }

    /// Reports everything committed so far before it returns, except inside a callback or a write.
    /// - Returns: whether there was a newer version.
    /// - Throws: what `Connection.refresh` throws.
    @discardableResult
    public func refresh() throws -> Bool { try connection.refresh() }

    /// Ends the reports. The content remains readable until the controller is released.
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

    // MARK: Content

    /// Sections, in order. Evaluates the query if needed.
    public var sections: [FetchedSection<Object>] { shown.flatMap { rows?.sections(in: $0) } ?? [] }

    /// All objects, in order.
    public var fetchedObjects: [Object] { sections.flatMap { Array($0.objects) } }

    /// Returns the object at a path.
    public func object(at path: RowPath) -> Object {
        guard let shown, let rows else { stopProgram("\(FetchedResultsError.notFetched)") }
        return rows.query.object(at: path, in: shown)
    }

    /// Returns the path of an object, or nil if it is not shown.
    /// - Throws: `StoreError.otherStore` for an object of another store, whose id may belong to another object here.
    public func path(of object: Object) throws -> RowPath? {
        guard let id = object.objectID, let store = object.connection?.store else { return nil }
        guard store.folder == connection.store.folder else {
            throw StoreError.otherStore(path: store.folder, used: connection.store.folder)
        }
        guard let batch else { return shown.flatMap { _ in rows?.query.path(of: id) } }
        return batch.path(of: id)
    }

    /// Titles of the sections for an index beside a list.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// Returns the first section with an index title, or nil.
    public func section(forIndexTitle title: String) -> Int? { sectionIndexTitles.firstIndex(of: title) }

    /// Returns the sections and their changes as a sequence for any task, for the last fetched request. The first
    /// element has the sections.
    /// - Throws: `notFetched`; what `SectionedResults.changes` throws.
    public func changes() throws -> LiveChanges<SectionedUpdate> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return try rows.query.changes(keyPaths: keyPaths)
    }

    /// Same as `changes()`, for targets of this package that offer changes in other forms.
    /// - Parameter makeOutput: makes an element; given nil for the initial one.
    /// - Returns: a function that makes one feed per subscription.
    package func feeds<Output>(_ makeOutput: @escaping (SectionedChangeSet?) -> Output) throws -> () -> Feed<Output> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return { [keyPaths] in rows.query.makeFeed(keyPaths: keyPaths, makeOutput) }
    }

    /// Rows to show. nil before the first fetch.
    private var shown: SectionedRows? {
        if let batch { return batch.rows }
        guard let rows else { return nil }
        guard !isDelivered, readBeforeDelivery == nil else { return rows.query.shown }
        let early = rows.query.early
        readBeforeDelivery = early
        return early.rows
    }

    // MARK: Reporting

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
                end()
                delegate?.controller(self, didFailWith: error)
            }
        case .update(let changes, let old, let new): tell(changes, from: old, to: new)
        case .failed(let error): delegate?.controller(self, didFailWith: error)
        }
    }

    /// Reports a batch to the current delegate. Stops if the delegate changes, or the controller fetches again or ends.
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

    /// Names and sizes of the sections from the cache file, to show while the query is being evaluated. Read by
    /// `performFetch`. nil unless the file is of the connection's version and of this request.
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

    /// Writes the cache from the last delivery. Later own writes are not included, because no delivered version has
    /// them.
    private func keepCache() {
        guard isDelivered, let cache, let rows, let delivered = rows.query.delivered, let identity = rows.identity()
        else { return }
        cache.keep(rows.cachedSections(of: delivered), identity, version: connection.version)
    }
}

/// A misuse of a controller or a change logger.
public enum FetchedResultsError: Error, Equatable, CustomStringConvertible {
    /// A controller was used before its first `performFetch`.
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
