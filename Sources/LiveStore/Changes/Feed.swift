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
    ///   - tokenMade: called once, before anything comes, with the token behind the subscription.
    package func start(
        tokenMade: (NotificationToken) -> Void, changed: @escaping () -> Void, ended: @escaping (StoreError?) -> Void
    ) throws {
        self.changed = changed
        self.ended = ended
        let token = try subscribe()
        self.token = token
        tokenMade(token)
        connection.core.whenClosing(ObjectIdentifier(self)) { [weak self] in self?.soon { self?.end(nil) } }
    }

    func subscribe() throws -> NotificationToken { preconditionFailure("a feed subscribes to something") }

    func tellChanged() { changed?() }

    func end(_ error: StoreError?) {
        ended?(error)
        cancel()
    }

    /// Runs `body` on the connection's scheduler, in a turn of its own. Any thread.
    package func soon(_ body: @escaping () -> Void) { try? connection.live().mailbox.requestSweep(of: .turn(Turn(body))) }

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
            case .failed(let error): end(error)
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
    /// The object cannot be read, so there is no value to take: asking for one would end the process.
    private var hasFailed = false

    package init(_ object: Object, _ keyPath: KeyPath<Object, Value>) throws {
        guard let connection = object.connection else { throw StoreError.notStored(type: "\(Object.self)") }
        self.object = object
        self.keyPath = keyPath
        super.init(connection)
    }

    override func subscribe() throws -> NotificationToken {
        try object.observe(keyPaths: [keyPath]) { [weak self] change in
            guard let self else { return }
            switch change {
            case .change: tellChanged()
            case .deleted: end(nil)
            case .error(let error):
                hasFailed = true
                end(error)
            }
        }
    }

    package override func take() -> Value? {
        guard !hasFailed, !object.isInvalidated else { return nil }
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
