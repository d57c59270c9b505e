// Whether a version that is held while writers go on shows what it showed when it was the newest. Goes along with the versions of one
// query, the oldest first.
import TidegaugeDriver

/// The rows of one query at the versions that are asked about. One thread.
struct HeldCheck {
    // A version evaluates each query anew: as with the final state, the first ones are compared in any case, and `held_rows` tells how
    // many rows were.
    static let mostQueries = 4
    static let mostRows = 1_000_000

    private let query: Query
    private let history: QueryHistory
    private let dataset: Dataset
    private var replay: ChangeSetReplay
    /// Of rows that a commit has touched.
    private var stamps: [Int64: Int64] = [:]
    /// Affecting commits so far.
    private var done = 0
    private(set) var rowsCompared = 0

    /// - Parameter rows: those of the query before the first commit.
    init(_ query: Query, _ history: QueryHistory, _ dataset: Dataset, _ rows: OrderedRows) {
        (self.query, self.history, self.dataset) = (query, history, dataset)
        replay = ChangeSetReplay(rows)
    }

    /// - Parameter held: not older than the one before.
    /// - Returns: what is wrong with it, as a sentence.
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
        // Rows without an order are compared by key.
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
