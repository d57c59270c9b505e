// Strategies by which a process learns of changes: those of good applications, and some known mistakes that the
// harness must detect.

public enum PostgresWay: Sendable, Hashable {
    /// Interval of status messages in ms. The server disconnects readers of its log that are silent for long.
    static let answerEveryMs: Int32 = 1_000

    /// All queries are run every `pollMs` in one statement.
    case poll
    /// A trigger for each statement notifies, and all queries are run in one transaction.
    case notify
    /// The same with a trigger for each row, as in many applications.
    case notifyRows
    /// The application notifies for its writers, at most once in `everyMs`.
    case batch(everyMs: Int32)
    /// Every commit arrives from the server's log, and rows are maintained.
    case wal
    /// A mistake: a trigger numbers the written keys, and the watcher queries those above the highest number it has
    /// seen. Commits overtake one another, so a lower number may appear later.
    case outbox
    /// A mistake: a commit in the log causes new queries, but it may not be visible yet.
    case doorbell
    /// A mistake: the watcher listens only after its first queries, so commits between the two are missed.
    case lateListen

    public static let all: [PostgresWay] = [
        .poll, .notify, .notifyRows, .batch(everyMs: 1), .batch(everyMs: 10), .batch(everyMs: 100), .wal, .outbox,
        .doorbell, .lateListen,
    ]

    var driverName: String {
        switch self {
        case .poll: "postgres-poll"
        case .notify: "postgres-notify"
        case .notifyRows: "postgres-notify-rows"
        case .batch(let everyMs): "postgres-batch-\(everyMs)ms"
        case .wal: "postgres-wal"
        case .outbox: "flawed-postgres-outbox"
        case .doorbell: "flawed-postgres-doorbell"
        case .lateListen: "flawed-postgres-late-listen"
        }
    }

    /// Remark for readers who compare figures.
    var remark: String {
        switch self {
        case .poll: "all queries run every 100 ms, in one statement"
        case .notify: "a trigger per statement notifies; notifications during a round of queries cause one more round"
        case .notifyRows: "a trigger per row notifies; notifications during a round of queries cause one more round"
        case .batch(let everyMs):
            "the writing process notifies at most every \(everyMs) ms, over a separate connection"
        case .wal:
            "a replication slot of the process sends every commit; the process keeps a copy of the table, and the rows of its "
                + "queries in order"
        case .outbox: "wrong on purpose: rows are lost if commits overtake each other"
        case .doorbell: "wrong on purpose: a notified change may not be visible yet to the query"
        case .lateListen: "wrong on purpose: commits between the query and LISTEN are missed"
        }
    }

    /// Interval between polls in ms; nil if the watcher waits for signals.
    var pollMs: Int32? {
        switch self {
        case .poll: 100
        case .outbox: 10
        case .notify, .notifyRows, .batch, .wal, .doorbell, .lateListen: nil
        }
    }

    /// The source of a watcher's signals.
    enum Hearing: Sendable {
        case nothing
        case notifications
        /// Notifications, but only after the first queries.
        case notificationsLate
        case stream

        /// Interval in ms of wake-ups without a signal; a stream needs status messages, the others (-1) need none.
        var wakeEveryMs: Int32 {
            switch self {
            case .stream: PostgresWay.answerEveryMs
            case .nothing, .notifications, .notificationsLate: -1
            }
        }
    }

    var hearing: Hearing {
        switch self {
        case .poll, .outbox: .nothing
        case .notify, .notifyRows, .batch: .notifications
        case .lateListen: .notificationsLate
        case .wal, .doorbell: .stream
        }
    }

    /// The oldest server version that supports the strategy, and what older ones lack.
    var oldestServer: (version: Int32, reason: String) {
        hearing == .stream
            ? (14, "sends no rows in binary out of its log") : (13, "does not say which transaction a commit is")
    }

    /// Returns the reason why a server version does not suffice, or nil.
    /// - Parameter version: as `PQserverVersion` returns it; 150004 is 15.4.
    func obstacle(_ version: Int32) -> String? {
        let (oldest, reason) = oldestServer
        guard version / 10_000 < oldest else { return nil }
        return "PostgreSQL \(version / 10_000) \(reason): \(driverName) needs \(oldest) or later"
    }
}
