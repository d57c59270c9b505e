// What an application did, as a trace has it: which rows each commit inserted, changed and deleted, and which queries were
// watched for how long. In numbers, so that any store can be asked the same.

/// A recorded workload. Due times of its commits stand in `WritersSpec.traceNs`.
public struct WorkloadSpec: Codable, Sendable, Equatable {
    public struct Operation: Codable, Sendable, Equatable {
        public enum Kind: String, Codable, Sendable {
            case insert
            case delete
            /// A column was written that some query of the trace filters or sorts by.
            case move
            /// Other columns were.
            case touch
        }

        public var kind: Kind
        public var table: Int
        /// Rows that were there at first, table by table, and behind them those that were inserted, in that order.
        public var row: Int

        package init(kind: Kind, table: Int, row: Int) { (self.kind, self.table, self.row) = (kind, table, row) }
    }

    /// What a query's rows stand in the order of.
    public enum Order: String, Codable, Sendable {
        case none, ascending, descending
    }

    /// A query that somebody watched.
    public struct Watch: Codable, Sendable, Equatable {
        public var table: Int
        /// Of the rows of its table, in [0, 1].
        public var share: Double
        public var order = Order.none
        /// From the start of the warm-up.
        public var fromNs: Int64
        /// nil: to the end.
        public var untilNs: Int64?

        package init(table: Int, share: Double, order: Order = .none, fromNs: Int64, untilNs: Int64? = nil) {
            (self.table, self.share, self.order) = (table, share, order)
            (self.fromNs, self.untilNs) = (fromNs, untilNs)
        }
    }

    /// Rows of each table at first.
    public var rows: [Int] = []
    public var commits: [[Operation]] = []
    /// Those watched from before the first commit until after the last.
    public var lasting: [Watch] = []
    /// The others, which come and go.
    public var passing: [Watch] = []

    public init() {}

    /// Rows that there are at first in all tables.
    public var rowCount: Int { rows.reduce(0, +) }

    /// Most rows of a commit.
    public var largestCommit: Int { commits.lazy.map(\.count).max() ?? 0 }

    /// Rows of all commits over their number.
    public var meanCommit: Double {
        commits.isEmpty ? 0 : Double(commits.lazy.map(\.count).reduce(0, +)) / Double(commits.count)
    }
}
