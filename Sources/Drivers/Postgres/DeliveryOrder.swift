// The order of commits as the deliveries of a process show it. Each delivery has a snapshot or a stream position.
import Foundation
import StillingWellBasis
import StillingWellSync
import TidegaugeDriver

/// The positions of the deliveries so far. Any thread.
protocol DeliveryOrder: Sendable {
    /// Whether the delivery with this token includes the commit.
    func sees(_ token: Int64, _ commit: Int64) -> Bool
    /// See `LateVersions.order`.
    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder
    /// See `LateVersions.shown`.
    func shown() throws -> Data
}

extension DeliveryOrder {
    func order(ofCommits commits: [Int64]) throws -> LateOrder { try order(ofCommits: commits, alsoShown: []) }
}

extension ShownSnapshots: DeliveryOrder {
    func shown() throws -> Data { try JSONEncoder().encode(list) }

    /// All snapshots of one server form one chain, whichever process took them.
    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        let own = list
        let lists = [own] + (try others.map { try JSONDecoder().decode([PostgresSnapshot].self, from: $0) })
        let chain = SnapshotChain(commits, lists.flatMap { $0 })
        let versions = Dictionary(uniqueKeysWithValues: chain.commits.enumerated().map { ($1, Int64($0 + 1)) })
        var first = 0
        let standings = lists.map { list in
            let seen = Array(chain.seen[first..<first + list.count])
            first += list.count
            return { @Sendable (token: Int64) in
                seen.indices.contains(Int(token) - 1) ? Int64(seen[Int(token) - 1]) : nil
            }
        }
        return LateOrder(
            versions: versions,
            standing: { [self] token in standings[0](token) ?? standing(token, behind: chain.commits) },
            standingElsewhere: standings.dropFirst().map { standing in { standing($0) ?? 0 } }, problem: chain.problem)
    }
}

/// Commits in the order of the server's log, as its stream sent them. Each start of the stream also has a position,
/// which stands for everything committed until then. A delivery's token is its last position, counted from 1.
final class ShownStream: DeliveryOrder, Sendable {
    private struct State: Codable {
        var places: Int64 = 0
        /// Positions by transaction number.
        var placeOf: [Int64: Int64] = [:]
        var beginnings: [Beginning] = []
        var lastEnd: LogPosition = 0
        var problem: String?

        /// Returns nil if the commit has not been shown yet.
        func place(of commit: Int64) -> Int64? {
            placeOf[commit] ?? beginnings.first { $0.snapshot.sees(commit) }?.place
        }
    }

    private struct Beginning: Codable {
        var place: Int64
        var snapshot: PostgresSnapshot
    }

    private let state = Guarded("postgres stream", State())

    /// Records that a stream begins after the snapshot.
    /// - Returns: the token of deliveries at that position.
    func begin(at snapshot: PostgresSnapshot) -> Int64 {
        state.withLock { state in
            state.places += 1
            state.beginnings.append(Beginning(place: state.places, snapshot: snapshot))
            return state.places
        }
    }

    /// Records a commit that was sent completely.
    /// - Parameters:
    ///   - transaction: the lower 32 bits of its number.
    ///   - end: position of its end in the log.
    /// - Returns: the token of deliveries at its position.
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

    func shown() throws -> Data { try JSONEncoder().encode(state.withLock { $0 }) }

    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        let own = state.withLock { $0 }
        let theirs = try others.map { try JSONDecoder().decode(State.self, from: $0) }
        let placed = commits.map { (place: own.place(of: $0) ?? .max, commit: $0) }
        // No delivery separates commits at one position. A writer's own transactions ascend.
        let ordered = placed.sorted { ($0.place, $0.commit) < ($1.place, $1.commit) }
        let versions = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.commit, Int64($0 + 1)) })
        let streams = [own] + theirs
        let places = streams.map { stream in ordered.map { stream.place(of: $0.commit) ?? .max } }
        // The log has one order, which all its readers receive.
        let isBroken = places.contains { zip($0, $0.dropFirst()).contains { $0 > $1 } }
        let standings = places.map { places in
            { @Sendable (token: Int64) in Int64(places.partitioningIndex { $0 > token }) }
        }
        return LateOrder(
            versions: versions, standing: standings[0], standingElsewhere: Array(standings.dropFirst()),
            problem: streams.lazy.compactMap(\.problem).first
                ?? (isBroken ? "two processes were sent the same commits in different orders" : nil))
    }
}
