// The thread that evaluates queries for the first time, off the upkeep thread, and makes trees with other measures
// (column values stored in the tree, for sums and extremes). It takes all waiting requests, evaluates those with an
// index first, and fills the others of one table by scans. New requests with an index are evaluated between two parts
// of a scan. Trees dropped meanwhile are not evaluated. The evaluator reads only the constants and `isDropped` of a
// tree.
import StillingWellSync

final class Evaluator: Sendable {
    /// Maximum number of trees that one scan fills, which bounds the memory for rows that are not in trees yet.
    private static let maxTreesPerScan = 256

    private struct Request {
        let tree: SharedTree
        let reply: @Sendable (Upkeep.Message) -> Void
    }

    private struct Inbox {
        var requests: [Request] = []
        /// Done after the requests, because callers wait for those.
        var measuring: [@Sendable () -> Void] = []
        var isStopped = false

        var isEmpty: Bool { requests.isEmpty && measuring.isEmpty }
    }

    private let storage: Storage
    private let inbox = Guarded("evaluator inbox", Inbox())
    private let arrived: TracedCondition
    /// Started by the first call of `evaluate`, and ended by `stop`.
    private let thread = SetOnce<TracedThread>()

    init(_ storage: Storage) {
        self.storage = storage
        arrived = TracedCondition("evaluator inbox", inbox)
    }

    /// Fills trees and replies from the evaluator thread. If that thread cannot be started, replies with a failure at
    /// once, on the calling thread.
    func evaluate(_ trees: [SharedTree], reply: @escaping @Sendable (Upkeep.Message) -> Void) {
        do throws(StoreError) {
            if thread.known == nil { thread.set(try StoreError.starting("well-eval") { [self] in run() }) }
        } catch {
            return reply(.failed(trees, error))
        }
        inbox.withLock {
            for tree in trees { $0.requests.append(Request(tree: tree, reply: reply)) }
            arrived.broadcast()
        }
    }

    /// Makes a copy of `rows`, the content of `tree` in the snapshot, with other measures and replies from the
    /// evaluator thread. The thread exists, because it has evaluated the tree.
    func measure(
        _ tree: SharedTree, _ rows: RankedTree, _ measures: Measures, in snapshot: Snapshot,
        reply: @escaping @Sendable (Upkeep.Message) -> Void
    ) {
        inbox.withLock {
            $0.measuring.append {
                reply(.measured(tree, from: rows, to: tree.measured(rows, measures, in: snapshot)))
            }
            arrived.broadcast()
        }
    }

    /// Ends the thread after the requests that it has taken, and waits for it unless called on it.
    func stop() {
        inbox.withLock {
            $0.isStopped = true
            arrived.broadcast()
        }
        thread.known?.joinOrDetach()
    }

    private func run() {
        while let batch = take() {
            var scans = lookUp(batch.requests)
            while let table = scans.first?.tree.table.id {
                var (group, others): ([Request], [Request]) = ([], [])
                for request in scans where !request.tree.isDropped.load(ordering: .relaxed) {
                    if request.tree.table.id == table, group.count < Self.maxTreesPerScan {
                        group.append(request)
                    } else {
                        others.append(request)
                    }
                }
                scans = others
                scan(group) { scans += lookUp(takeRequests()) }
            }
            for measure in batch.measuring { measure() }
        }
    }

    /// Takes all waiting work. Returns nil once the evaluator is stopped.
    private func take() -> Inbox? {
        inbox.withLock(after: arrived, once: { !$0.isEmpty || $0.isStopped }) { inbox in
            defer { (inbox.requests, inbox.measuring) = ([], []) }
            return inbox.isStopped ? nil : inbox
        }
    }

    private func takeRequests() -> [Request] {
        inbox.withLock { inbox in
            defer { inbox.requests = [] }
            return inbox.requests
        }
    }

    /// Evaluates the trees whose rows an index finds.
    /// - Returns: the other requests.
    private func lookUp(_ requests: [Request]) -> [Request] {
        var scans: [Request] = []
        let wanted = requests.filter { !$0.tree.isDropped.load(ordering: .relaxed) }
        for group in Dictionary(grouping: wanted, by: { $0.tree.table.id }).values {
            evaluate(group) { (trees, snapshot) throws(StoreError) in
                let found = try FirstEvaluation.lookUp(trees, in: snapshot)
                scans += zip(group, found).filter { $1 == nil }.map(\.0)
                return found
            }
        }
        return scans
    }

    /// Evaluates trees of one table in a scan.
    /// - Parameter pause: called regularly during the scan.
    private func scan(_ group: [Request], pausing pause: () -> Void) {
        evaluate(group) { (trees, snapshot) throws(StoreError) in
            try FirstEvaluation.scan(
                trees, in: snapshot, isDropped: { group[$0].tree.isDropped.load(ordering: .relaxed) }, pausing: pause)
        }
    }

    /// Replies with the trees that `body` has filled, or with its error.
    private func evaluate(
        _ group: [Request], _ body: ([(TreeKey, Table)], Snapshot) throws(StoreError) -> [RankedTree?]
    ) {
        if group.isEmpty { return }
        do throws(StoreError) {
            let snapshot = try storage.openSnapshot()
            let found = try body(group.map { ($0.tree.key, $0.tree.table) }, snapshot)
            let trees = zip(group, found).compactMap { request, ranked in ranked.map { (request.tree, $0) } }
            if !trees.isEmpty { group[0].reply(.evaluated(trees, snapshot)) }
        } catch {
            group[0].reply(.failed(group.map(\.tree), error))
        }
    }
}
