// Finds the commit order of one server afterwards, from the snapshots of deliveries. The snapshots of one primary
// form a chain in which each contains the previous one. A commit's place is that of the first snapshot that sees it.
import StillingWellSync

/// A value of `pg_current_snapshot()`: the transactions that it sees.
struct PostgresSnapshot: Sendable, Equatable, Codable {
    /// All transactions below are seen.
    var lowest: Int64
    /// No transaction from here on is seen.
    var end: Int64
    /// Transactions in between that are not seen, ascending.
    var running: [Int64]

    /// Parses text like `10:20:10,14,15`; nil unless it has three parts, of which the first two are numbers.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lowest = Int64(parts[0]), let end = Int64(parts[1]) else { return nil }
        (self.lowest, self.end) = (lowest, end)
        running = parts[2].split(separator: ",").compactMap { Int64($0) }.sorted()
    }

    /// Whether the snapshot sees the commit of this transaction. O(log running).
    func sees(_ transaction: Int64) -> Bool {
        if transaction < lowest { return true }
        guard transaction < end else { return false }
        var (low, high) = (0, running.count)
        while low < high {
            let middle = (low + high) / 2
            if running[middle] < transaction { low = middle + 1 } else { high = middle }
        }
        return low == running.count || running[low] != transaction
    }

    /// Returns how many of these ascending commits the snapshot sees. O((running + 1) log commits).
    func seen(of commits: [Int64]) -> Int {
        let below = Self.below(end, commits)
        return running.reduce(below) { count, transaction in
            let place = Self.below(transaction, commits)
            return place < below && commits[place] == transaction ? count - 1 : count
        }
    }

    private static func below(_ bound: Int64, _ commits: [Int64]) -> Int {
        var (low, high) = (0, commits.count)
        while low < high {
            let middle = (low + high) / 2
            if commits[middle] < bound { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The snapshots of this process's deliveries. Any thread.
final class ShownSnapshots: Sendable {
    private let all = Guarded<[PostgresSnapshot]>("postgres snapshots", [])

    /// - Returns: the token of a delivery at this snapshot, higher than all previous tokens.
    func add(_ snapshot: PostgresSnapshot) -> Int64 {
        all.withLock {
            $0.append(snapshot)
            return Int64($0.count)
        }
    }

    /// Whether a delivery with this token shows that commit.
    func sees(_ token: Int64, _ commit: Int64) -> Bool {
        all.withLock { $0.indices.contains(Int(token) - 1) && $0[Int(token) - 1].sees(commit) }
    }

    var list: [PostgresSnapshot] { all.withLock { $0 } }

    /// Returns the place of a snapshot that was added after the order was computed: before the first unseen commit; 0
    /// for an unknown token.
    func standing(_ token: Int64, behind commits: [Int64]) -> Int64 {
        let list = list
        guard list.indices.contains(Int(token) - 1) else { return 0 }
        let snapshot = list[Int(token) - 1]
        return Int64(commits.firstIndex { !snapshot.sees($0) } ?? commits.count)
    }
}

/// Commits in the order in which snapshots see them.
struct SnapshotChain {
    /// Ordered by the first snapshot that sees them, then by number.
    let commits: [Int64]
    /// Number of commits that each snapshot sees, in the given order of snapshots.
    let seen: [Int]
    let problem: String?

    init(_ commits: [Int64], _ snapshots: [PostgresSnapshot]) {
        let ascending = commits.sorted()
        let seen = snapshots.map { $0.seen(of: ascending) }
        let chain = snapshots.indices.sorted { (seen[$0], $0) < (seen[$1], $1) }.map { snapshots[$0] }
        // A writer's own transactions ascend, so those between two snapshots keep its order.
        let places = ascending.map { commit in (place: Self.firstSeeing(commit, chain), commit: commit) }
        self.commits = places.sorted { ($0.place, $0.commit) < ($1.place, $1.commit) }.map(\.commit)
        self.seen = seen
        problem = Self.problem(chain, ascending)
    }

    private static func firstSeeing(_ commit: Int64, _ chain: [PostgresSnapshot]) -> Int {
        var (low, high) = (0, chain.count)
        while low < high {
            let middle = (low + high) / 2
            if chain[middle].sees(commit) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Describes a commit that one snapshot sees and a larger one does not: a fork, which one primary never shows.
    private static func problem(_ chain: [PostgresSnapshot], _ ascending: [Int64]) -> String? {
        let commits = Set(ascending)
        for (earlier, later) in zip(chain, chain.dropFirst()) where earlier != later {
            let late = later.end < earlier.end ? ascending.filter { $0 >= later.end && $0 < earlier.end } : []
            if let commit = (later.running + late).first(where: { commits.contains($0) && earlier.sees($0) }) {
                return
                    "long fork: transaction \(commit) is in a snapshot (\(earlier.lowest):\(earlier.end)) and not in one that "
                    + "sees as many or more (\(later.lowest):\(later.end)): there is no one order of commits"
            }
        }
        return nil
    }
}
