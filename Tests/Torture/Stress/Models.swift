// What is stored: two tables of the same shape, one small enough to be evaluated anew at every callback and one large,
// boards that lead to small rows by a link and by lists, and a ledger in which every commit counts itself.
import Foundation
import StillingWell

/// A row of either table.
protocol StressRow: StoredObject {
    static var size: TableSize { get }
    var key: Int { get set }
    var score: Int { get set }
    var weight: Double { get set }
    var isDone: Bool { get set }
    var title: String { get set }
    var due: Date? { get set }
    var group: Int? { get set }
    /// Which commit wrote the row last.
    var mark: Int { get set }
}

enum TableSize: String, Sendable {
    case small, large
}

final class SmallRow: StoredObject, StressRow {
    static let size = TableSize.small
    @Stored(.primaryKey) var key = 0
    @Stored var score = 0
    @Stored var weight = 0.0
    @Stored var isDone = false
    @Stored var title = ""
    @Stored var due: Date? = nil
    @Stored var group: Int? = nil
    @Stored var mark = 0
}

final class LargeRow: StoredObject, StressRow {
    static let size = TableSize.large
    @Stored(.primaryKey) var key = 0
    @Stored var score = 0
    @Stored var weight = 0.0
    @Stored var isDone = false
    @Stored var title = ""
    @Stored var due: Date? = nil
    @Stored var group: Int? = nil
    @Stored var mark = 0
}

/// Leads to small rows, which makes changes of theirs changes of its own.
final class Board: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var score = 0
    @Stored var mark = 0
    @Linked var lead: SmallRow?
    @Listed var members: List<SmallRow>
    @Listed var tags: List<Int>
}

/// How often one writer has committed. Every commit adds one to one row, so in every snapshot the sum is the version:
/// a snapshot that is labelled with a version it does not hold shows at once.
final class Ledger: StoredObject {
    @Stored(.primaryKey) var writer = 0
    @Stored var commits = 0

    /// Counts a commit, inside its write.
    /// - Returns: its mark, which no other commit has.
    @discardableResult
    static func add(_ writer: Int, _ connection: Connection) throws -> Int {
        if let line = try connection.object(Ledger.self, forPrimaryKey: writer) {
            line.commits += 1
            return writer << 32 | line.commits
        }
        let line = Ledger()
        line.writer = writer
        line.commits = 1
        try connection.add(line)
        return writer << 32 | 1
    }

    /// The version of a connection's rows, by what they hold; inside a write, the one it will make.
    static func version(_ connection: Connection) throws -> UInt64 {
        UInt64(try connection.objects(Ledger.self).reduce(0) { $0 + $1.commits })
    }

    static func commits(_ connection: Connection) throws -> [Int: Int] {
        let lines = try connection.objects(Ledger.self).map { ($0.writer, $0.commits) }
        return Dictionary(uniqueKeysWithValues: lines)
    }
}

enum Models {
    static let all: [StoredObject.Type] = [SmallRow.self, LargeRow.self, Board.self, Ledger.self]
}
