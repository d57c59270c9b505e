// A subscription that hands out what is new when it is asked to, which is what demand needs. It is told that something
// changed as any observer is; what changed it works out later, from what it handed out last to what is there then.
//
// Used on the connection's scheduler, except `soon` and `cancel`, which any thread may call.

/// For targets of this package that offer changes in other forms.
package class Feed<Output>: @unchecked Sendable {
    private let connection: Connection
    private var token: NotificationToken?
    private var changed: (() -> Void)?
    private var ended: ((StoreError?) -> Void)?

    package init(_ connection: Connection) { self.connection = connection }

    /// What is new since the last call; nil when nothing is.
    package func take() -> Output? { nil }

    /// Begins the subscription.
    /// - Parameters:
    ///   - changed: there may be something to take.
    ///   - ended: nothing more will come, with what is to be taken still there.
    package func start(changed: @escaping () -> Void, ended: @escaping (StoreError?) -> Void) throws {
        self.changed = changed
        self.ended = ended
        token = try subscribe()
        connection.core.whenClosing(ObjectIdentifier(self)) { [weak self] in self?.soon { self?.end(nil) } }
    }

    func subscribe() throws -> NotificationToken { preconditionFailure("a feed subscribes to something") }

    func tellChanged() { changed?() }

    func end(_ error: StoreError?) {
        ended?(error)
        cancel()
    }

    /// Runs `body` on the connection's scheduler, in a turn of its own. Any thread.
    package func soon(_ body: @escaping () -> Void) { connection.mailbox?.requestSweep(of: .turn(Turn(body))) }

    /// Ends the subscription. Any thread.
    package func cancel() {
        token?.invalidate()
        connection.core.forgetClosing(ObjectIdentifier(self))
    }

    deinit {
        token?.invalidate()
        connection.core.forgetClosing(ObjectIdentifier(self))
    }
}

/// The changes of results.
package final class ResultsFeed<Object: StoredObject>: Feed<ResultsChange<Object>>, @unchecked Sendable {
    private let results: Results<Object>
    private let query: ConnectionQuery
    private var reported: RankedTree?
    /// From the rows reported to those delivered, while only one delivery lies between.
    private var known: ChangeSet?
    private var isBehind = false

    package init(_ results: Results<Object>, keyPaths: [PartialKeyPath<Object>]?) {
        self.results = results
        query = keyPaths.map(results.observed(by:)) ?? results.query
        super.init(results.connection)
    }

    override func subscribe() throws -> NotificationToken {
        try results.connection.observe(query, madeAt: "a publisher of results") { [weak self] change in
            guard let self else { return }
            switch change {
            case .initial: known = nil
            case .update(let changes, _, _): known = isBehind ? nil : changes
            case .failed(let error): return end(error)
            }
            isBehind = true
            tellChanged()
        }
    }

    package override func take() -> ResultsChange<Object>? {
        guard isBehind, let delivered = query.delivered else { return nil }
        isBehind = false
        defer { reported = delivered }
        guard let reported else { return .initial(results) }
        let changes = known ?? query.plan.heard(.between(reported, delivered, in: query.window))
        return changes.isEmpty ? nil : .update(results, changes)
    }
}

/// The changes of one object.
package final class ObjectFeed<Object: StoredObject>: Feed<ObjectChange<Object>>, @unchecked Sendable {
    private let object: Object
    private let keyPaths: [PartialKeyPath<Object>]?
    private var pending: ObjectEvent?

    package init(_ object: Object, keyPaths: [PartialKeyPath<Object>]?) throws {
        guard let connection = object.connection else { throw StoreError.notStored(type: "\(Object.self)") }
        self.object = object
        self.keyPaths = keyPaths
        super.init(connection)
    }

    override func subscribe() throws -> NotificationToken {
        guard let binding = object.binding else { throw StoreError.notStored(type: "\(Object.self)") }
        let columns = keyPaths.map { binding.table.layout.mask(of: $0) } ?? .max
        return try binding.connection.observe(binding, columns: columns, madeAt: "a publisher of an object") {
            [weak self] change in
            guard let self else { return }
            switch change {
            case .change(let changes):
                pending = pending?.merged(with: .changed(changes)) ?? .changed(changes)
                tellChanged()
            case .deleted:
                pending = .deleted
                tellChanged()
                end(nil)
            }
        }
    }

    package override func take() -> ObjectChange<Object>? {
        defer { pending = nil }
        switch pending {
        case .changed(let changes): return .change(object, changes)
        case .deleted: return .deleted
        case nil: return nil
        }
    }
}

/// The values of one property: the one there is, and then every other.
package final class PropertyFeed<Object: LiveObject, Value: StorableValue>: Feed<Value>, @unchecked Sendable {
    private let object: Object
    private let keyPath: KeyPath<Object, Value>
    private var reported: Value?

    package init(_ object: Object, _ keyPath: KeyPath<Object, Value>) throws {
        guard let connection = object.connection else { throw StoreError.notStored(type: "\(Object.self)") }
        self.object = object
        self.keyPath = keyPath
        super.init(connection)
    }

    override func subscribe() throws -> NotificationToken {
        try object.observe(keyPaths: [keyPath]) { [weak self] change in
            guard let self else { return }
            if case .deleted = change { end(nil) } else { tellChanged() }
        }
    }

    package override func take() -> Value? {
        guard !object.isInvalidated else { return nil }
        let value = object[keyPath: keyPath]
        if let reported, reported._columnValue == value._columnValue { return nil }
        reported = value
        return value
    }
}

/// What the store's observers are told.
package final class StoreFeed: Feed<StoreNotification>, @unchecked Sendable {
    private let observed: Connection
    private var pending: StoreNotification?

    package override init(_ connection: Connection) {
        observed = connection
        super.init(connection)
    }

    override func subscribe() throws -> NotificationToken {
        try observed.observe { [weak self] notification, _ in
            self?.pending = notification
            self?.tellChanged()
        }
    }

    package override func take() -> StoreNotification? {
        defer { pending = nil }
        return pending
    }
}
