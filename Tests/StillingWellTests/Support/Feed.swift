// A connection whose deliveries a test makes by hand, and observers that record their callbacks.
import StillingWell
import Testing

/// A connection on a manual scheduler. Used by one thread.
final class Feed {
    let scheduler = ManualScheduler()
    let connection: Connection
    private(set) var log: [String] = []
    private var tokens: [NotificationToken] = []

    init(_ store: Store) throws { connection = try store.connect(on: .scheduler(scheduler)) }

    /// The token kept last.
    var lastToken: NotificationToken? { tokens.last }

    deinit { for token in tokens { token.invalidate() } }

    func note(_ line: String) { log.append(line) }

    /// Returns the lines since the last call.
    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    @discardableResult
    func keep(_ token: NotificationToken) -> NotificationToken {
        tokens.append(token)
        return token
    }

    /// Observes results and waits for the initial callback, which is not recorded.
    @discardableResult
    func observe<Object: StoredObject>(
        _ name: String, _ notes: Results<Object>, keyPaths: [PartialKeyPath<Object>]? = nil
    ) throws -> NotificationToken {
        var isReady = false
        let body: (ResultsChange<Object>) -> Void = { [unowned self] change in
            if case .initial = change { isReady = true } else { log.append("\(name) \(change.text)") }
        }
        let token =
            if let keyPaths { try notes.observe(keyPaths: keyPaths, body) } else { try notes.observe(body) }
        try scheduler.turn { isReady }
        return keep(token)
    }

    /// Observes a list and waits for the initial callback, which is not recorded.
    @discardableResult
    func observe<Element>(_ name: String, _ list: List<Element>) throws -> NotificationToken {
        var isReady = false
        let token = try list.observe { [unowned self] change in
            switch change {
            case .initial: isReady = true
            case .update(_, let changes): log.append("\(name) \(changes.text)")
            case .error(let error): log.append("\(name) error \(error)")
            }
        }
        try scheduler.turn { isReady }
        return keep(token)
    }

    @discardableResult
    func observe(
        _ name: String, _ note: Note, keyPaths: [PartialKeyPath<Note>]? = nil
    ) throws -> NotificationToken {
        keep(
            try note.observe(keyPaths: keyPaths) { [unowned self] change in
                switch change {
                case .change(_, let changes):
                    let list = changes.map { "\($0.name) \($0.oldValue.text) to \($0.newValue.text)" }
                    log.append("\(name) \(list.joined(separator: ", "))")
                case .deleted: log.append("\(name) deleted")
                case .error(let error): log.append("\(name) \(error)")
                }
            })
    }

    @discardableResult
    func observeStore(_ name: String = "store") throws -> NotificationToken {
        keep(try connection.observe { [unowned self] notification, _ in log.append("\(name) \(notification)") })
    }

    /// Delivers all commits.
    func catchUp() throws { _ = try connection.refresh() }
}

extension CollectionChange where Collection: RandomAccessCollection, Changes == ChangeSet {
    /// The change as text. An update is `-0 +1 ~2>3`: deletions, insertions, modifications in the old and new rows.
    var text: String {
        switch self {
        case .initial(let results): "initial \(results.count)"
        case .error(let error): "error \(error)"
        case .update(_, let changes): changes.text
        }
    }
}

extension ChangeSet {
    var text: String {
        (deletions.map { "-\($0)" } + insertions.map { "+\($0)" }
            + zip(modifications, modificationsNew).map { "~\($0)>\($1)" })
            .joined(separator: " ")
    }
}

extension ColumnValue {
    var text: String {
        switch self {
        case .null: "nil"
        case .int(let value): "\(value)"
        case .string(let value): "'\(value)'"
        case .bool(let value): "\(value)"
        case .double(let value): "\(value)"
        default: "\(self)"
        }
    }
}
