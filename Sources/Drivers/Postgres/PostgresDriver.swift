// PostgreSQL as an application uses it whose queries are to stay true: asked again every tenth of a second, or when a trigger has
// said that something changed.
import StoreDriver

public struct PostgresDriver: StoreDriver {
    /// How it comes to know that something changed.
    public enum Way: Sendable {
        /// All queries are asked every `PostgresDriver.pollMs`, in one statement.
        case poll
        /// A trigger notifies, and all queries are asked in one transaction.
        case notify
    }

    /// Between two polls.
    static let pollMs: Int32 = 100

    private let way: Way

    public init(_ way: Way) { self.way = way }

    public var name: String {
        switch way {
        case .poll: "postgres-poll"
        case .notify: "postgres-notify"
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
            case .poll: $0.remarks.append("queries are asked every \(Self.pollMs) ms, in one statement")
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
