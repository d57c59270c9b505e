// Models of the stress test. Two tables have the same shape: a small one that is evaluated at every callback, and a
// large one. Boards have a link and lists to small rows. Every commit increments its writer's row of the ledger.
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
    /// Mark of the commit that wrote the row last (`Ledger.add`).
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

/// A row with a link and a list to small rows, whose changes count as changes of the board.
final class Board: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var score = 0
    @Stored var mark = 0
    @Linked var lead: SmallRow?
    @Listed var members: List<SmallRow>
    @Listed var tags: List<Int>
}

/// Number of commits of one writer. Every commit adds 1 to one row, so in each snapshot the sum equals the version.
final class Ledger: StoredObject {
    @Stored(.primaryKey) var writer = 0
    @Stored var commits = 0

    /// Counts a commit. Must be called inside its write.
    /// - Returns: the commit's mark, which is unique.
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

    /// Sum of the ledger: the version of the connection's snapshot, or inside a write, after `add`, the version it will
    /// make.
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
