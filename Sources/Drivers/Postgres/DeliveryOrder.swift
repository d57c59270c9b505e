// The order of commits as deliveries of a process have told it: of those that stand at snapshots (Snapshots.swift), and of those that
// stand at places of a stream.
import Basis
import StoreDriver
import TracedSync

/// What deliveries have stood at so far. Any thread.
protocol DeliveryOrder: Sendable {
    /// Whether a delivery with this token shows that commit.
    func sees(_ token: Int64, _ commit: Int64) -> Bool
    /// As `LateVersions.order`.
    func order(ofCommits commits: [Int64]) -> LateOrder
}

extension ShownSnapshots: DeliveryOrder {
    func order(ofCommits commits: [Int64]) -> LateOrder {
        let chain = SnapshotChain(commits, list)
        let versions = Dictionary(uniqueKeysWithValues: chain.commits.enumerated().map { ($1, Int64($0 + 1)) })
        return LateOrder(
            versions: versions,
            standing: { [self] token in
                if chain.seen.indices.contains(Int(token) - 1) { return Int64(chain.seen[Int(token) - 1]) }
                return standing(token, behind: chain.commits)
            }, problem: chain.problem)
    }
}

/// Commits in the order of the server's log, as its stream has sent them; and where a stream began anew, what was committed until
/// then. Each of the two is a place, and a delivery's token is the last one it shows, counted from 1.
final class ShownStream: DeliveryOrder, Sendable {
    private struct State {
        var places: Int64 = 0
        /// By the transaction's number.
        var placeOf: [Int64: Int64] = [:]
        var beginnings: [(place: Int64, snapshot: PostgresSnapshot)] = []
        var lastEnd: LogPosition = 0
        var problem: String?

        /// nil where it was not shown yet.
        func place(of commit: Int64) -> Int64? {
            placeOf[commit] ?? beginnings.first { $0.snapshot.sees(commit) }?.place
        }
    }

    private let state = Guarded("postgres stream", State())

    /// A stream begins, behind what the snapshot sees.
    /// - Returns: the token of deliveries that stand there.
    func begin(at snapshot: PostgresSnapshot) -> Int64 {
        state.withLock { state in
            state.places += 1
            state.beginnings.append((state.places, snapshot))
            return state.places
        }
    }

    /// A commit was sent whole.
    /// - Parameters:
    ///   - transaction: the lower half of its number.
    ///   - end: its place in the log.
    func add(_ transaction: UInt32, end: LogPosition) -> Int64 {
        state.withLock { state in
            state.places += 1
            let number = StreamedChange.widened(transaction, near: state.beginnings.last?.snapshot.end ?? 0)
            if state.placeOf[number] != nil || state.beginnings.contains(where: { $0.snapshot.sees(number) }) {
                state.problem =
                    state.problem ?? "overlap: the stream sends transaction \(number), which was shown before"
            }
            if end <= state.lastEnd {
                state.problem =
                    state.problem ?? "transaction \(number) was sent after others that come behind it in the log"
            }
            state.placeOf[number] = state.places
            state.lastEnd = end
            return state.places
        }
    }

    func sees(_ token: Int64, _ commit: Int64) -> Bool {
        state.withLock { state in state.place(of: commit).map { $0 <= token } ?? false }
    }

    /// O(commits log commits).
    func order(ofCommits commits: [Int64]) -> LateOrder {
        let (places, problem) = state.withLock { state in (commits.map { state.place(of: $0) ?? .max }, state.problem) }
        // What came at one place was seen by nobody on its own; a writer's own transactions ascend.
        let ordered = zip(places, commits).sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        let versions = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.1, Int64($0 + 1)) })
        let ascending = ordered.map(\.0)
        return LateOrder(
            versions: versions,
            standing: { token in Int64(ascending.partitioningIndex { $0 > token }) }, problem: problem)
    }
}
