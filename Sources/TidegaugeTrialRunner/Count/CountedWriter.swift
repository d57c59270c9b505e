// A writer of a counted trial: a thread that commits on request. The conducting thread generates the changes, so that
// their instructions are not counted as the writer's.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Synchronization
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
    private let atWork = Atomic<Bool>(false)
    private let thread = SetOnce<TracedThread>()
    private let threadID = Atomic<Int32>(0)

    // Used by the thread whose turn it is.
    private let changes: DeliveryBound<UnsafeMutableBufferPointer<Change>>
    private let next = DeliveryBound(UnsafeBufferPointer<Change>(start: nil, count: 0))
    private let generator: DeliveryBound<ChangeGenerator>
    private let task = DeliveryBound(Task.rest)
    private let failure = DeliveryBound<TrialFault?>(nil)

    /// - Parameter most: maximum number of commits.
    init(_ index: Int, _ setup: TrialSetup, most: Int) throws {
        self.index = index
        let generator = ChangeGenerator(
            setup.spec, dataset: setup.dataset, shared: setup.plan.shared, writer: index)
        changes = DeliveryBound(.allocate(capacity: generator.count))
        self.generator = DeliveryBound(here: generator)
        recorder = try CommitRecorder(capacity: most, prefaulted: most)
        thread.set(TracedThread("writer-\(index)") { [self, store = setup.store] in run(store) })
    }

    deinit {
        changes.claim()
        changes.value.deallocate()
    }

    /// Whether a task has begun and not finished; if the thread sleeps, it then sleeps within the task.
    var isAtWork: Bool { atWork.load(ordering: .acquiring) }

    /// The kernel's number of the thread.
    var tid: Int32 { threadID.load(ordering: .relaxed) }

    /// Fault that ended the thread early. Read while the thread sleeps or after it has ended.
    var fault: TrialFault? {
        failure.claim()
        return failure.value
    }

    func commit() {
        next.claim()
        next.value = generator.value.fill(changes.value)
        tell(.commit)
    }

    func rest() { tell(.rest) }

    func end() {
        tell(.end)
        thread.value.join()
    }

    private func tell(_ task: Task) {
        self.task.claim()
        self.task.value = task
        atWork.store(true, ordering: .releasing)
        turn.signal()
    }

    private func run(_ store: any DrivenStore) {
        threadID.store(cp_thread_id(), ordering: .relaxed)
        defer { atWork.store(false, ordering: .releasing) }
        do {
            let writer = try store.makeWriter()
            while true {
                atWork.store(false, ordering: .releasing)
                turn.wait()
                task.claim()
                cp_mark_role(0, Callgrind.number(of: .writer), 0)
                switch task.value {
                case .commit: try commit(writer)
                case .rest: continue
                case .end: return
                }
            }
        } catch {
            failure.claim()
            failure.value = error as? TrialFault ?? .store("writer-\(index): \(error)")
        }
    }

    private func commit(_ writer: any StoreWriter) throws {
        next.claim()
        let beginNs = MonotonicClock.nowNs()
        var lockedNs = beginNs
        let version = try writer.commit(next.value) { lockedNs = MonotonicClock.nowNs() }
        guard let version else { throw TrialFault.refused("the engine gave a commit no version") }
        recorder.record(
            CommitRecord(
                dueNs: beginNs, beginNs: beginNs, lockedNs: lockedNs, committedNs: MonotonicClock.nowNs(),
                version: version))
    }
}
