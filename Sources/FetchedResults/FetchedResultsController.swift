// The controller: a fetch request kept true on a connection, told to a delegate change by change.
//
// It has no lock and no thread. Everything is on its connection's scheduler; in the mode `legacySynchronous` what commits
// elsewhere comes in through `LegacyDelivery`, which says what is wrong with that.
import LiveStore

/// Shows the objects of a fetch request in sections, and tells a delegate of changes in the manner of
/// NSFetchedResultsController. Belongs to its connection's scheduler.
///
/// The query is evaluated when it is read first, or in the background if nobody reads; its upkeep is always in the
/// background, and no thread waits for another one's delegate.
public final class FetchedResultsController<Object: StoredObject> {
    /// The connection it belongs to.
    public let connection: Connection
    /// What is shown. A new one holds from the next `performFetch` on.
    public var fetchRequest: FetchRequest<Object>
    /// The name of the file that section names and sizes are kept in from one run of the program to the next; nil keeps
    /// none.
    public let cacheName: String?
    /// Is told of changes. Held weakly.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
    /// The token behind it, for `write(withoutNotifying:)`; nil before the first fetch, and in the mode
    /// `legacySynchronous`.
    public private(set) var notificationToken: NotificationToken?

    private let keyPaths: [PartialKeyPath<Object>]?
    private let delivery: FetchedResultsDelivery
    private var rows: (any FetchedRows<Object>)?
    /// What was shown when it was read first, until the first delivery says what has changed since.
    private var readBeforeDelivery: SectionedRows?
    private var isDelivered = false
    private var legacy: LegacyDelivery<Object>?

    /// A controller that shows nothing before `performFetch`.
    /// - Parameters:
    ///   - connection: a live one. The delegate is told on its scheduler.
    ///   - keyPaths: the properties whose changes are updates; nil means all.
    ///   - cacheName: a file name; two controllers of one store with the same name and another request overwrite each
    ///     other's.
    public init(
        _ connection: Connection, _ request: FetchRequest<Object>, keyPaths: [PartialKeyPath<Object>]? = nil,
        cacheName: String? = nil, delivery: FetchedResultsDelivery = .live
    ) {
        self.connection = connection
        fetchRequest = request
        self.keyPaths = keyPaths
        self.cacheName = cacheName
        self.delivery = delivery
    }

    deinit { invalidate() }

    // MARK: Fetching

    /// Shows what the request asks for, from now on, and begins to tell of changes. Evaluates nothing itself; what
    /// follows is told relative to what was read.
    /// - Throws: `unknownModel`, `noScheduler` on a connection that lives for one block, `closed`.
    public func performFetch() throws {
        end()
        let rows = try fetchRequest.rows(on: connection)
        self.rows = rows
        cachedSections = cache?.sections(rows.identity, version: connection.version)
        switch delivery {
        case .live:
            notificationToken = try rows.observe(keyPaths: keyPaths) { [weak self] in self?.tell($0) }
        case .legacySynchronous(let place):
            legacy = try LegacyDelivery(connection, fetchRequest, place) { [weak self] in
                self?.tellSynchronously($0)
            }
        }
    }

    /// Tells of everything committed so far before it returns.
    /// - Returns: whether there was anything newer.
    /// - Throws: as `Connection.refresh`.
    @discardableResult
    public func refresh() throws -> Bool {
        legacy?.catchUp()
        return try connection.refresh()
    }

    /// Tells nothing more. It keeps showing, until it is gone.
    public func invalidate() {
        if isDelivered { keepCache() }
        end()
    }

    private func end() {
        notificationToken?.invalidate()
        notificationToken = nil
        legacy?.end()
        legacy = nil
        readBeforeDelivery = nil
        isDelivered = false
    }

    // MARK: What is shown

    /// The sections. Evaluates the query if nobody has. O(sections · log n).
    public var sections: [FetchedSection<Object>] { read?.sections ?? [] }

    /// All objects, in order. O(n).
    public var fetchedObjects: [Object] { sections.flatMap { Array($0.objects) } }

    /// The object at a path. O(sections · log n).
    public func object(at path: RowPath) -> Object {
        let objects = sections[path.section].objects
        return objects[objects.index(objects.startIndex, offsetBy: path.row)]
    }

    /// The path of an object; nil where it is not shown. O(log n).
    public func path(of object: Object) -> RowPath? { read?.path(of: object) }

    /// The titles of an index at the side of a list, one per section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// The first section with an index title; nil where there is none.
    public func section(forIndexTitle title: String) -> Int? { sectionIndexTitles.firstIndex(of: title) }

    /// Sections, and what changed in them, as a sequence for any task: first the sections as they are. Of the request
    /// that was fetched last.
    /// - Throws: `notFetched`, `closed`.
    public func changes() throws -> LiveChanges<SectionedUpdate> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return try rows.changes(keyPaths: keyPaths)
    }

    /// The same for targets of this package that offer changes in other forms.
    /// - Parameter makeOutput: given nil for what there is at first.
    /// - Returns: what makes one subscription after the other.
    package func feeds<Output>(_ makeOutput: @escaping (SectionedChangeSet?) -> Output) throws -> () -> Feed<Output> {
        guard let rows else { throw FetchedResultsError.notFetched }
        return { [keyPaths] in rows.makeFeed(keyPaths: keyPaths, makeOutput) }
    }

    /// The rows, for somebody who reads them.
    private var read: (any FetchedRows<Object>)? {
        if let rows, !isDelivered, readBeforeDelivery == nil { readBeforeDelivery = rows.shownRows }
        return rows
    }

    // MARK: Telling

    private func tell(_ change: FetchedRowsChange) {
        guard let rows else { return }
        let shown = rows.shownRows
        switch change {
        case .initial:
            isDelivered = true
            keepCache()
            let changes = readBeforeDelivery.map { rows.told($0.changes(to: shown)) } ?? .none
            readBeforeDelivery = nil
            delegate?.tell(changes, shown, self)
        case .update(let changes): delegate?.tell(rows.told(changes), shown, self)
        case .failed(let error): delegate?.controller(self, didFailWith: error)
        }
    }

    private func tellSynchronously(_ outcome: LegacyDelivery<Object>.Outcome) {
        do {
            let (changes, new) = try outcome.get()
            try connection.refresh()
            delegate?.tell(rows?.told(changes) ?? changes, new, self)
        } catch let error as StoreError {
            delegate?.controller(self, didFailWith: error)
        } catch {
            preconditionFailure("a store's own reads fail with its own errors, and not with \(error)")
        }
    }

    // MARK: The cache

    /// Names and sizes of the sections as they were kept the last time, where nothing has changed since: to be shown
    /// while the query is being evaluated. nil where there is no cache, or it is of another version or request.
    public private(set) var cachedSections: [CachedSection]?

    private var cache: SectionCache? { cacheName.map { SectionCache($0, connection.store) } }

    private func keepCache() {
        guard let cache, let rows else { return }
        let sections = rows.sections.map { CachedSection(name: $0.name, objectCount: $0.objectCount) }
        cache.keep(sections, rows.identity, version: connection.version)
    }
}

/// How a controller hears of commits and tells its delegate.
public enum FetchedResultsDelivery: Sendable {
    /// As the store delivers: nobody waits for anybody.
    case live
    /// As RBQFetchedResultsController did it: whoever commits through a change logger waits while the changes are computed
    /// and the delegate is told on another thread, all under one lock. **It deadlocks** when that thread commits meanwhile:
    /// it is here so that the deadlock can be shown. Not for programs.
    case legacySynchronous(on: LegacyPlace)
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
            "a change was logged in a store.write block, whose end the change logger does not see: use "
                + "store.writeWithNotification, or a live connection"
        }
    }
}
