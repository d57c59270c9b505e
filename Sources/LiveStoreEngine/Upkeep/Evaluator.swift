// The thread that evaluates queries for the first time, off the upkeep thread. It takes everything that has gathered,
// and fills all trees of one table in one scan.
//
// `inbox` guards `requests` and `isStopped`. A tree that is being evaluated is not touched: only its key and its table,
// which are constant, are read.
import TracedSync

final class Evaluator: @unchecked Sendable {
    private struct Request {
        let tree: SharedTree
        let reply: (Upkeep.Message) -> Void
    }

    private let storage: Storage
    private let inbox = TracedMutex("evaluator inbox")
    private let arrived: TracedCondition
    private var requests: [Request] = []
    private var isStopped = false
    private var thread: TracedThread?

    init(_ storage: Storage) {
        self.storage = storage
        arrived = TracedCondition("evaluator inbox", inbox)
    }

    /// Fills `tree` and replies from the evaluator's thread.
    func evaluate(_ tree: SharedTree, reply: @escaping (Upkeep.Message) -> Void) {
        do throws(StoreError) {
            if thread == nil { thread = try StoreError.starting("livestore-eval") { [self] in run() } }
        } catch {
            return reply(.failed([tree], error))
        }
        inbox.withLock {
            requests.append(Request(tree: tree, reply: reply))
            arrived.broadcast()
        }
    }

    /// Ends the thread after the evaluation it is in, and waits for it.
    func stop() {
        inbox.withLock {
            isStopped = true
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
        inbox.withLock {
            while requests.isEmpty, !isStopped { arrived.wait() }
            defer { requests = [] }
            return isStopped ? nil : requests
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
