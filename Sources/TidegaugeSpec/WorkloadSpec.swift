// A recorded workload: rows that each commit of an application inserted, changed and deleted, and the queries
// observed meanwhile. Rows are numbers and queries are shares of a table, so that any store can replay it.

/// A recorded workload. `WritersSpec.traceNs` has the due times of its commits.
public struct WorkloadSpec: Codable, Sendable, Equatable {
    public struct Operation: Codable, Sendable, Equatable {
        public enum Kind: String, Codable, Sendable {
            case insert
            case delete
            /// Writes a column that some query of the trace filters or sorts by.
            case move
            /// Writes only other columns, or columns that the trace does not name.
            case touch
        }

        public var kind: Kind
        public var table: Int
        /// Row number: initial rows table by table, then inserted rows in the order of insertion.
        public var row: Int

        package init(kind: Kind, table: Int, row: Int) { (self.kind, self.table, self.row) = (kind, table, row) }
    }

    /// Sort order of a query's rows.
    public enum Order: String, Codable, Sendable {
        case none, ascending, descending
    }

    /// An observed query.
    public struct Watch: Codable, Sendable, Equatable {
        public var table: Int
        /// Share of the rows of its table, in [0, 1].
        public var share: Double
        public var order = Order.none
        /// Time of subscription in ns from the start of the warm-up.
        public var fromNs: Int64
        /// Time of cancellation; nil: the end of the trial.
        public var untilNs: Int64?

        package init(table: Int, share: Double, order: Order = .none, fromNs: Int64, untilNs: Int64? = nil) {
            (self.table, self.share, self.order) = (table, share, order)
            (self.fromNs, self.untilNs) = (fromNs, untilNs)
        }
    }

    /// Initial number of rows of each table.
    public var rows: [Int] = []
    public var commits: [[Operation]] = []
    /// Queries observed at the first commit, at the last and between.
    public var lasting: [Watch] = []
    /// Queries that are subscribed after the first commit or cancelled before the last.
    public var passing: [Watch] = []

    public init() {}

    /// Initial number of rows in all tables.
    public var rowCount: Int { rows.reduce(0, +) }

    /// Highest number of rows of a commit.
    public var largestCommit: Int { commits.lazy.map(\.count).max() ?? 0 }

    /// Mean number of rows per commit.
    public var meanCommit: Double {
        commits.isEmpty ? 0 : Double(commits.lazy.map(\.count).reduce(0, +)) / Double(commits.count)
    }
}
