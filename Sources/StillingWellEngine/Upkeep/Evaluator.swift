// The thread that evaluates queries for the first time, off the upkeep thread, and makes trees with other measures. It takes
// everything that has gathered, and fills all trees of one table in one scan. A tree that is being evaluated is not touched:
// only what is constant of it is read, as its key and its table.
import StillingWellSync

final class Evaluator: Sendable {
    private struct Request {
        let tree: SharedTree
        let reply: @Sendable (Upkeep.Message) -> Void
    }

    private struct Inbox {
        var requests: [Request] = []
        /// Done after the requests: somebody waits for those.
        var measuring: [@Sendable () -> Void] = []
        var isStopped = false

        var isEmpty: Bool { requests.isEmpty && measuring.isEmpty }
    }

    private let storage: Storage
    private let inbox = Guarded("evaluator inbox", Inbox())
    private let arrived: TracedCondition
    /// Started by the upkeep thread, and ended when that has nothing to do with it any more.
    nonisolated(unsafe) private var thread: TracedThread?

    init(_ storage: Storage) {
        self.storage = storage
        arrived = TracedCondition("evaluator inbox", inbox)
    }

    /// Fills trees, those of one table in one scan, and replies from the evaluator's thread.
    func evaluate(_ trees: [SharedTree], reply: @escaping @Sendable (Upkeep.Message) -> Void) {
        do throws(StoreError) {
            if thread == nil { thread = try StoreError.starting("well-eval") { [self] in run() } }
        } catch {
            return reply(.failed(trees, error))
        }
        inbox.withLock {
            for tree in trees { $0.requests.append(Request(tree: tree, reply: reply)) }
            arrived.broadcast()
        }
    }

    /// Makes `rows`, which `tree` has in the snapshot, anew with other measures and replies from the evaluator's thread. That
    /// is there: it has evaluated the tree.
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

    /// Ends the thread after the evaluation it is in, and waits for it.
    func stop() {
        inbox.withLock {
            $0.isStopped = true
            arrived.broadcast()
        }
        thread?.joinOrDetach()
        thread = nil
    }

    private func run() {
        while let batch = take() {
            for group in Dictionary(grouping: batch.requests, by: { $0.tree.table.id }).values { evaluate(group) }
            for measure in batch.measuring { measure() }
        }
    }

    /// nil for the end.
    private func take() -> Inbox? {
        inbox.withLock(after: arrived, once: { !$0.isEmpty || $0.isStopped }) { inbox in
            defer { (inbox.requests, inbox.measuring) = ([], []) }
            return inbox.isStopped ? nil : inbox
        }
    }

    private func evaluate(_ requests: [Request]) {
        let trees = requests.map(\.tree)
        do throws(StoreError) {
            let snapshot = try storage.openSnapshot()
            let ranked = try FirstEvaluation.evaluate(trees.map { ($0.key, $0.table) }, in: snapshot)
            requests[0].reply(.evaluated(Array(zip(trees, ranked)), snapshot))
        } catch {
            requests[0].reply(.failed(trees, error))
        }
    }
}
