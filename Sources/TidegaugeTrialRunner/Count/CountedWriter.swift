// A writer of a counted trial: a thread that commits when it is told to. The conducting thread generates the changes,
// so that the writer's instructions are those of the commit.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// A thread that runs one task at a time. The conducting thread owns its state except during a turn, which ends when
/// the writer sleeps again.
final class CountedWriter: Sendable {
    private enum Task {
        case commit, rest, end
    }

    let recorder: CommitRecorder
    private let turn = DispatchSemaphore(value: 0)
    private let index: Int
    /// 1 from the telling of a task until it is done; both threads write it, as an atomic.
    nonisolated(unsafe) private let atWork: UnsafeMutablePointer<UInt32>
    // Of the thread whose turn it is.
    nonisolated(unsafe) private let changes: UnsafeMutableBufferPointer<Change>
    nonisolated(unsafe) private var next = UnsafeBufferPointer<Change>(start: nil, count: 0)
    nonisolated(unsafe) private var generator: ChangeGenerator
    nonisolated(unsafe) private var thread: TracedThread?
    nonisolated(unsafe) private var task = Task.rest
    nonisolated(unsafe) private(set) var fault: TrialFault?
    nonisolated(unsafe) private(set) var tid: Int32 = 0

    /// - Parameter most: maximum number of commits.
    init(_ index: Int, _ setup: TrialSetup, most: Int) throws {
        self.index = index
        generator = ChangeGenerator(
            setup.spec, dataset: setup.dataset, shared: setup.plan.shared, writer: index)
        changes = .allocate(capacity: generator.count)
        recorder = try CommitRecorder(capacity: most, prefaulted: most)
        atWork = .allocate(capacity: 1)
        atWork.initialize(to: 0)
        thread = TracedThread("writer-\(index)") { [self, store = setup.store] in run(store) }
    }

    deinit {
        changes.deallocate()
        atWork.deallocate()
    }

    /// Whether a task has begun and not finished; if the thread sleeps, it then sleeps within the task.
    var isAtWork: Bool { cp_load32(atWork) != 0 }

    func commit() {
        next = generator.fill(changes)
        tell(.commit)
    }

    func rest() { tell(.rest) }

    func end() {
        tell(.end)
        thread?.join()
        thread = nil
    }

    private func tell(_ task: Task) {
        self.task = task
        cp_store32(atWork, 1)
        turn.signal()
    }

    private func run(_ store: any DrivenStore) {
        tid = cp_thread_id()
        defer { cp_store32(atWork, 0) }
        do {
            let writer = try store.makeWriter()
            while true {
                cp_store32(atWork, 0)
                turn.wait()
                cp_mark_role(0, Callgrind.number(of: .writer), 0)
                switch task {
                case .commit: try commit(writer)
                case .rest: continue
                case .end: return
                }
            }
        } catch let fault as TrialFault {
            self.fault = fault
        } catch {
            fault = .store("writer-\(index): \(error)")
        }
    }

    private func commit(_ writer: any StoreWriter) throws {
        let beginNs = MonotonicClock.nowNs()
        var lockedNs = beginNs
        let version = try writer.commit(next) { lockedNs = MonotonicClock.nowNs() }
        guard let version else { throw TrialFault.refused("the engine gave a commit no version") }
        recorder.record(
            CommitRecord(
                dueNs: beginNs, beginNs: beginNs, lockedNs: lockedNs, committedNs: MonotonicClock.nowNs(),
                version: version))
    }
}
