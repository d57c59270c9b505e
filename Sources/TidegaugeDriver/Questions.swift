// Reads that an application makes in its callbacks besides the delivery itself: rows, their sum or number, or one row
// by its key. Each answer is a number that follows from the rows of one version, which a model can check. Stamps are
// those of `Item.stamp`.

/// A question to an `AnsweringSubscription`.
public enum ReadQuestion: Sendable, Equatable {
    /// Finds the row with this key. The answer is its stamp if the query contains it, else `ReadAnswer.noRow`.
    case lookup(key: Int64)
    /// Number of rows of the query, evaluated independently of the subscription.
    case count
    /// Number of rows of the whole table that pass a condition, evaluated independently of the subscription.
    case countWhere(RowCondition)
    /// Sum of the stamps of the query's rows, computed by the engine's own sum.
    case sum
    /// `ReadAnswer.add` of score and stamp of the first `ReadAnswer.windowRows` rows. Only for queries with an order.
    case window
    /// Sum of the stamps of the query's rows, added row by row as an application does.
    case iterate
}

/// An answer and the version that it follows from.
public struct ReadAnswer: Sendable, Equatable {
    /// Number of rows of a window.
    public static let windowRows = 50
    /// Answer of a lookup without a result. Only audited rows (group −1) have negative stamps.
    public static let noRow: Int64 = -1

    public var value: Int64
    /// Version of the rows, equal to or newer than that of the callback.
    public var version: Int64

    public init(_ value: Int64, at version: Int64) { (self.value, self.version) = (value, version) }

    /// Adds a row of a window to a checksum that depends on the order of rows.
    @inlinable
    public static func add(score: Int64, stamp: Int64, to sum: inout Int64) { sum = sum &* 31 &+ score &+ stamp }
}

extension Query {
    /// Returns the answer to a lookup that found a row, which is assumed to be of the query's group.
    public func looked(_ key: Int64, score: Int64, stamp: Int64) -> Int64 {
        matches(key: key, group: group ?? 0, score: score) ? stamp : ReadAnswer.noRow
    }
}

/// SQL statements for the questions about a query. Caches the last text, except for lookups.
public struct QuestionStatements {
    private let query: Query
    private var last: (question: ReadQuestion, sql: String)?

    public init(_ query: Query) { self.query = query }

    /// Returns a statement with its bound values. Its result rows are passed to `AnswerFold`.
    public mutating func statement(_ question: ReadQuestion) -> (sql: String, values: [Int64]) {
        if let last, last.question == question { return (last.sql, []) }
        var unordered = query
        unordered.order = .none
        let sql: String
        switch question {
        case .lookup(let key): return ("SELECT score, stamp FROM item WHERE key = ?", [key])
        case .count: sql = unordered.select("COUNT(*)")
        case .countWhere(let condition): sql = "SELECT COUNT(*) FROM item WHERE \(condition.sql)"
        case .sum: sql = unordered.select("COALESCE(SUM(stamp), 0)")
        case .window: sql = query.select("score, stamp") + " LIMIT \(ReadAnswer.windowRows)"
        case .iterate: sql = query.select("stamp")
        }
        last = (question, sql)
        return (sql, [])
    }
}

/// Computes an answer from the rows that SQL returned.
public struct AnswerFold {
    private let question: ReadQuestion
    private let query: Query
    public private(set) var value: Int64

    public init(_ question: ReadQuestion, _ query: Query) {
        (self.question, self.query) = (question, query)
        value = if case .lookup = question { ReadAnswer.noRow } else { 0 }
    }

    /// Adds a row of `QuestionStatements.statement`.
    /// - Parameter column: returns the integer of a column, counted from 0.
    public mutating func add(_ column: (Int) -> Int64) {
        switch question {
        case .lookup(let key): value = query.looked(key, score: column(0), stamp: column(1))
        case .count, .countWhere, .sum: value = column(0)
        case .window: ReadAnswer.add(score: column(0), stamp: column(1), to: &value)
        case .iterate: value &+= column(0)
        }
    }
}
