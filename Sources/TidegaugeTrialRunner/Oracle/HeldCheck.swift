// Checks that a version that is held during later writes still shows the same rows. It processes the held versions of
// one query, oldest first.
import TidegaugeDriver

/// The rows of one query at the held versions. Used by one thread.
struct HeldCheck {
    // Limits, because each held version evaluates the query.
    static let mostQueries = 4
    static let mostRows = 1_000_000

    private let query: Query
    private let history: QueryHistory
    private let dataset: Dataset
    private var replay: ChangeSetReplay
    /// Column `stamp`, by key, of rows that a commit has changed.
    private var stamps: [Int64: Int64] = [:]
    /// Number of affecting commits so far.
    private var done = 0
    private(set) var rowsCompared = 0

    /// - Parameter rows: the rows of the query before the first commit.
    init(_ query: Query, _ history: QueryHistory, _ dataset: Dataset, _ rows: OrderedRows) {
        (self.query, self.history, self.dataset) = (query, history, dataset)
        replay = ChangeSetReplay(rows)
    }

    /// - Parameter held: not older than the previous one.
    /// - Returns: the problem as a sentence, or nil.
    mutating func violation(_ held: any HeldVersion, _ commits: History) throws -> String? {
        let covered = history.affecting(before: commits.covered(by: held.version))
        let net = history.net(done..<covered)
        done = covered
        replay.advance(net)
        for touch in net { stamps[touch.key] = touch.stamp }
        let found = try held.contents(of: query)
        rowsCompared += found.count
        var expected = replay.rows.rows
        func fault(_ what: String) -> String { "held version \(held.version) of \(commits.commits.count): \(what)" }
        if found.count != expected.count {
            return fault("it shows \(found.count) rows, should be \(expected.count)")
        }
        // Unordered rows are compared by key.
        var shown = found
        if query.order == .none {
            expected.sort { $0.key < $1.key }
            shown.sort { $0.key < $1.key }
        }
        for (index, (row, item)) in zip(expected, shown).enumerated() {
            let stamp = stamps[row.key] ?? dataset.item(at: Int(row.key)).stamp
            if item.key != row.key || item.stamp != stamp {
                return fault(
                    "row \(index) is key \(item.key) stamp \(item.stamp), should be key \(row.key) stamp \(stamp)")
            }
        }
        return nil
    }
}
