// How a process comes to know that something changed: what good applications do, and a few mistakes of others, which are kept to be
// caught. Values only.

public enum PostgresWay: Sendable, Hashable {
    /// The server gives up on who reads its log and is silent for long.
    static let answerEveryMs: Int32 = 1_000

    /// All queries are asked every `pollMs`, in one statement.
    case poll
    /// A trigger of each statement notifies, and all queries are asked in one transaction.
    case notify
    /// The same with a trigger of each row, as many applications have it.
    case notifyRows
    /// The application notifies for its writers, once in so many ms at most.
    case batch(everyMs: Int32)
    /// Every commit is sent, out of the server's log, and rows are kept.
    case wal
    /// A mistake: a trigger numbers the keys that were written, and who watches asks for those above the highest number it has
    /// seen. Commits overtake one another: a lower number may come later.
    case outbox
    /// A mistake: a commit that was sent is taken for a sign to ask again. What stands in the log need not be visible yet.
    case doorbell
    /// A mistake: it listens only when it has asked. What is committed between the two is heard of by nobody.
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

    /// What to know before comparing figures.
    var remark: String {
        switch self {
        case .poll: "queries are asked every 100 ms, in one statement"
        case .notify: "a trigger for each statement notifies; what comes while queries are asked is one more round"
        case .notifyRows: "a trigger for each row notifies; what comes while queries are asked is one more round"
        case .batch(let everyMs):
            "the writing process notifies at most every \(everyMs) ms, over a connection of its own"
        case .wal:
            "a replication slot of the process sends every commit; the process keeps a copy of the table, and its queries in the "
                + "trees that StillingWell's are kept in"
        case .outbox: "wrong on purpose: rows are lost where commits overtake one another"
        case .doorbell: "wrong on purpose: what it was told of need not be visible yet when it asks"
        case .lateListen: "wrong on purpose: what is committed between asking and listening is not heard of"
        }
    }

    /// Between two polls; nil: it waits to be notified.
    var pollMs: Int32? {
        switch self {
        case .poll: 100
        case .outbox: 10
        case .notify, .notifyRows, .batch, .wal, .doorbell, .lateListen: nil
        }
    }

    /// What a watcher that asks has to tell it when.
    enum Hearing: Sendable {
        case nothing
        case notifications
        /// Not before it has asked.
        case notificationsLate
        case stream

        /// A stream is answered now and then; nobody else is woken for nothing.
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

    /// The oldest version of the server that has what it asks for, and what that is.
    var oldestServer: (version: Int32, reason: String) {
        hearing == .stream
            ? (14, "sends no rows in binary out of its log") : (13, "does not say which transaction a commit is")
    }

    /// Why a server of this version is of no use; nil where it is.
    /// - Parameter version: as the server counts: 150004 is 15.4.
    func obstacle(_ version: Int32) -> String? {
        let (oldest, reason) = oldestServer
        guard version / 10_000 < oldest else { return nil }
        return "PostgreSQL \(version / 10_000) \(reason): \(driverName) needs \(oldest) or later"
    }
}
