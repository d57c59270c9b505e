// What an application reads in its callbacks beside what a delivery tells it: the rows it shows, their sum, how many there
// are, one of them by its key. Every answer is a number that follows from the rows of one version, so that it can be held
// against a model. Values only.

/// What is asked of an `AnsweringSubscription`, about the rows of its query.
public enum ReadQuestion: Sendable, Equatable {
    /// The row with this key, found by it: its stamp where the query has it, else `ReadAnswer.noRow`.
    case lookup(key: Int64)
    /// How many rows the query finds, evaluated as by somebody who observes nothing.
    case count
    /// Of their stamps, by what the engine has for sums.
    case sum
    /// `ReadAnswer.add` of two properties of the first `ReadAnswer.windowRows` rows. Only of queries with an order.
    case window
    /// The sum of their stamps, row after row, as an application adds up what it is shown.
    case iterate
}

/// A number, and the version whose rows it follows from.
public struct ReadAnswer: Sendable, Equatable {
    /// Rows that an interface shows at once.
    public static let windowRows = 50
    /// Of a lookup that finds nothing; no stamp is negative.
    public static let noRow: Int64 = -1

    public var value: Int64
    /// Of a version at or after that of the callback.
    public var version: Int64

    public init(_ value: Int64, at version: Int64) { (self.value, self.version) = (value, version) }

    /// One more row of a window, whose order counts.
    @inlinable
    public static func add(score: Int64, stamp: Int64, to sum: inout Int64) { sum = sum &* 31 &+ score &+ stamp }
}

extension Query {
    /// The answer to a lookup that has found a row of those that writers change.
    public func looked(_ key: Int64, score: Int64, stamp: Int64) -> Int64 {
        matches(key: key, group: group ?? 0, score: score) ? stamp : ReadAnswer.noRow
    }
}

/// The statements that answer questions about a query. Text is made once for each, as an application's stands in its source.
public struct QuestionStatements {
    private let query: Query
    private var last: (question: ReadQuestion, sql: String)?

    public init(_ query: Query) { self.query = query }

    /// One row per row of the answer, for `AnswerFold`.
    public mutating func statement(_ question: ReadQuestion) -> (sql: String, values: [Int64]) {
        if let last, last.question == question { return (last.sql, []) }
        var unordered = query
        unordered.order = .none
        let sql: String
        switch question {
        case .lookup(let key): return ("SELECT score, stamp FROM item WHERE key = ?", [key])
        case .count: sql = unordered.select("COUNT(*)")
        case .sum: sql = unordered.select("COALESCE(SUM(stamp), 0)")
        case .window: sql = query.select("score, stamp") + " LIMIT \(ReadAnswer.windowRows)"
        case .iterate: sql = query.select("stamp")
        }
        last = (question, sql)
        return (sql, [])
    }
}

/// Makes an answer of the rows that SQL found for it.
public struct AnswerFold {
    private let question: ReadQuestion
    private let query: Query
    public private(set) var value: Int64

    public init(_ question: ReadQuestion, _ query: Query) {
        (self.question, self.query) = (question, query)
        value = if case .lookup = question { ReadAnswer.noRow } else { 0 }
    }

    /// Takes a row of `QuestionStatements.statement`.
    /// - Parameter column: gives the integer of a column, from 0.
    public mutating func add(_ column: (Int) -> Int64) {
        switch question {
        case .lookup(let key): value = query.looked(key, score: column(0), stamp: column(1))
        case .count, .sum: value = column(0)
        case .window: ReadAnswer.add(score: column(0), stamp: column(1), to: &value)
        case .iterate: value &+= column(0)
        }
    }
}
