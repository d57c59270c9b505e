// The thread that evaluates queries for the first time, off the upkeep thread. It takes everything that has gathered,
// and fills all trees of one table in one scan. A tree that is being evaluated is not touched: only its key and its table,
// which are constant, are read.
import TracedSync

final class Evaluator: Sendable {
    private struct Request {
        let tree: SharedTree
        let reply: @Sendable (Upkeep.Message) -> Void
    }

    private struct Inbox {
        var requests: [Request] = []
        var isStopped = false
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

    /// Fills `tree` and replies from the evaluator's thread.
    func evaluate(_ tree: SharedTree, reply: @escaping @Sendable (Upkeep.Message) -> Void) {
        do throws(StoreError) {
            if thread == nil { thread = try StoreError.starting("livestore-eval") { [self] in run() } }
        } catch {
            return reply(.failed([tree], error))
        }
        inbox.withLock {
            $0.requests.append(Request(tree: tree, reply: reply))
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
            for group in Dictionary(grouping: batch, by: { $0.tree.table.id }).values { evaluate(group) }
        }
    }

    private func take() -> [Request]? {
        inbox.withLock(after: arrived, once: { !$0.requests.isEmpty || $0.isStopped }) { inbox in
            defer { inbox.requests = [] }
            return inbox.isStopped ? nil : inbox.requests
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
