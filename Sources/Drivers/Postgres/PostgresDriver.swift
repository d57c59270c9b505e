// PostgreSQL as an application uses it whose queries are to stay true: asked again every tenth of a second, or when a trigger has
// said that something changed.
import StoreDriver

public struct PostgresDriver: StoreDriver {
    /// How it comes to know that something changed.
    public enum Way: Sendable {
        /// All queries are asked every `pollMs`, in one statement.
        case poll
        /// A trigger notifies, and all queries are asked in one transaction.
        case notify
        /// A mistake of many applications, kept to be caught: a trigger numbers the keys that were written, and who watches asks for
        /// those above the highest number it has seen. Commits overtake one another: a lower number may come later.
        case outbox

        /// Between two polls; nil: it waits to be notified.
        var pollMs: Int32? {
            switch self {
            case .poll: 100
            case .notify: nil
            case .outbox: 10
            }
        }
    }

    private let way: Way

    public init(_ way: Way) { self.way = way }

    public var name: String {
        switch way {
        case .poll: "postgres-poll"
        case .notify: "postgres-notify"
        case .outbox: "flawed-postgres-outbox"
        }
    }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.upkeepThreadPrefixes = ["pg-watch"]
            $0.remarks = [
                "a server of its own, by a socket of the file system; its CPU time is part of the figures",
                "one connection of the process asks all queries of all threads, and calls those whose rows changed",
                "'memory' is a cluster on tmpfs without fsync",
            ]
            switch way {
            case .poll: $0.remarks.append("queries are asked every 100 ms, in one statement")
            case .outbox: $0.remarks.append("wrong on purpose: rows are lost where commits overtake one another")
            case .notify:
                $0.remarks.append(
                    "a trigger for each statement notifies; what comes while queries are asked is one more round")
            }
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> PostgresStore {
        try PostgresStore(configuration, way)
    }
}
