// One writer thread: waits for the due time, commits, writes the times down. The open loop is `follow`: a due time in
// the past is not waited for and not skipped, so lateness shows in the records and nowhere else.
//
// `records`, `spunNs` and `fault` belong to the writer's thread until `end` has been awaited; `progress` and
// `dueNs` may be read by any.
import Measure
import Scenario
import StoreDriver
import Synchronization
import TracedSync

/// Commits what its generator draws, when its schedule says. One thread.
final class Writer: @unchecked Sendable {
    let name: String
    let recorder: CommitRecorder
    /// CPU time spent waiting actively for due times in the measured window: the harness's, not the store's.
    private(set) var spunNs: Int64 = 0
    private(set) var fault: String?
    private let progress = Atomic<Int>(0)
    private let dueNs = Atomic<Int64>(0)
    private let spec: TrialSpec
    private var generator: ChangeGenerator
    private var schedule: Schedule
    private let changes: UnsafeMutableBufferPointer<Change>
    /// Spinning on the last free core would take it from the store.
    private let spins: Bool

    init(_ index: Int, spec: TrialSpec, dataset: Dataset, cores: Int) throws {
        name = "writer-\(index)"
        self.spec = spec
        generator = ChangeGenerator(spec.writers, dataset: dataset, writer: index, seed: spec.seed)
        schedule = Schedule(
            spec.writers, writer: index, warmUpNs: spec.warmUpNs, durationNs: spec.durationNs, seed: spec.seed)
        changes = .allocate(capacity: spec.writers.rowsPerCommit)
        spins = spec.writers.threads < cores
        let capacity = TrialSize.commitsPerWriter(spec)
        recorder = try CommitRecorder(capacity: capacity, prefaulted: min(capacity, 1 << 16))
    }

    deinit { changes.deallocate() }

    /// Commits begun and returned so far; any thread.
    var commits: Int { progress.load(ordering: .relaxed) }

    /// The due time of the next commit, or of the one being made; any thread.
    var waitsUntilNs: Int64 { dueNs.load(ordering: .relaxed) }

    /// The thread's body: ready at `start`, and kept alive until `end` opens so that its CPU clock can be read.
    func run(_ store: any DrivenStore, start: Gate, end: Gate) {
        Pacing.tightenTimerSlack()
        do {
            let writer = try store.makeWriter()
            let windowNs = start.arriveAndWait()
            switch spec.writers.load {
            case .open: try follow(writer, windowNs: windowNs)
            case .closed: try saturate(writer, windowNs: windowNs)
            }
        } catch {
            fault = "\(name): \(error)"
        }
        end.arriveAndWait()
    }

    private func follow(_ writer: any StoreWriter, windowNs: Int64) throws {
        while let offsetNs = schedule.next() {
            generator.fill(changes)
            dueNs.store(windowNs + offsetNs, ordering: .relaxed)
            let spunNs = Pacing.wait(untilNs: windowNs + offsetNs, spin: spins)
            if offsetNs >= 0 { self.spunNs += spunNs }
            try commit(writer, dueNs: windowNs + offsetNs)
        }
    }

    private func saturate(_ writer: any StoreWriter, windowNs: Int64) throws {
        dueNs.store(windowNs - spec.warmUpNs, ordering: .relaxed)
        Pacing.sleep(untilNs: windowNs - spec.warmUpNs)
        let endNs = windowNs + spec.durationNs
        while MonotonicClock.nowNs() < endNs {
            generator.fill(changes)
            try commit(writer, dueNs: nil)
        }
    }

    private func commit(_ writer: any StoreWriter, dueNs: Int64?) throws {
        let beginNs = MonotonicClock.nowNs()
        var lockedNs = beginNs
        let version = try writer.commit(UnsafeBufferPointer(changes)) { lockedNs = MonotonicClock.nowNs() }
        let committedNs = MonotonicClock.nowNs()
        guard let version else { throw TrialFault.refused("the engine gave commit \(commits) no version") }
        recorder.record(
            CommitRecord(
                dueNs: dueNs ?? beginNs, beginNs: beginNs, lockedNs: lockedNs, committedNs: committedNs,
                version: version))
        progress.store(commits + 1, ordering: .relaxed)
    }
}

/// Where threads wait for one another. `arrived` and `value` are guarded by `lock`.
final class Gate: @unchecked Sendable {
    private let lock: TracedMutex
    private let changed: TracedCondition
    private var arrived = 0
    private var value: Int64?

    init(_ name: String) {
        lock = TracedMutex(name)
        changed = TracedCondition(name, lock)
    }

    /// Waits until the gate is open.
    /// - Returns: what it was opened with.
    @discardableResult
    func arriveAndWait() -> Int64 {
        lock.withLock {
            arrived += 1
            changed.broadcast()
            while value == nil { changed.wait() }
            return value!
        }
    }

    func open(_ value: Int64) {
        lock.withLock {
            self.value = value
            changed.broadcast()
        }
    }

    var arrivals: Int { lock.withLock { arrived } }
}
