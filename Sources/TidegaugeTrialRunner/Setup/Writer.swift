// One writer thread: waits for the due time, commits, records the times. The open loop is `follow`: a past due time
// is neither waited for nor skipped, so lateness shows in the records only. A writer that stays late gives up; its
// remaining commits are counted as `MissedCommit`.
//
// Any thread may read `progress` and `dueNs`.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Commits what its generator draws: at the due times of its schedule if the load is open. One thread.
///
/// Unchecked because all mutable state except atomics belongs to the writer's thread until it has arrived at the gate
/// `end`; `allocations` until it has arrived at `start`.
final class Writer: @unchecked Sendable {
    /// Initial interval in ns between two checks of a writer in lockstep.
    private static let lookEveryNs: Int64 = 2_000
    private static let lookAtLeastEveryNs: Int64 = 10_000_000
    /// Maximum time in ns that a lockstep writer spins. A store that needs longer needs the cores.
    private static let spinForNs: Int64 = 300_000

    let name: String
    private let index: Int
    let recorder: CommitRecorder
    /// CPU time in ns spent spinning, for due times or observers, in the measured window. It belongs to the harness,
    /// not to the store.
    private(set) var spunNs: Int64 = 0
    private(set) var fault: TrialFault?
    /// Allocation counters of the thread; set before it is ready.
    private(set) var allocations: ThreadAllocations?
    /// Number of attempts to commit that the store refused. Counted only if the trial's fault fills the disk or
    /// restarts the server.
    private(set) var refusals = 0
    private var lastVersion: Int64 = 0
    private var lastCommittedNs: Int64 = 0
    private let progress = Atomic<Int>(0)
    private let dueNs = Atomic<Int64>(0)
    private let spec: TrialSpec
    private var generator: ChangeGenerator
    /// The schedule; nil unless the load is open-loop.
    private var schedule: ArrivalSchedule?
    private let changes: UnsafeMutableBufferPointer<Change>
    /// The next commit; a part of `changes`.
    private var next = UnsafeBufferPointer<Change>(start: nil, count: 0)
    /// The writer of the store if it takes the times of its commits itself; otherwise nil.
    private var selfTimed: (any SelfTimedWriter)?
    /// Whether the thread spins. Spinning on the last free core would take it from the store.
    private let spins: Bool
    private let hooks: Hooks

    /// Actions between the commits of a writer.
    struct Hooks {
        var floor: WakeProbe?
        var stalls: StallProbe?
        /// Observers that a writer in lockstep waits for.
        var group: ObserverGroup?
    }

    /// - Parameter inheritance: for a writer in a separate process, the buffer for its records and the number of due
    ///   times that other writers have handled.
    init(
        _ index: Int, _ spec: TrialSpec, _ dataset: Dataset, shared: Query, hooks: Hooks = .init(),
        inheriting inheritance: (records: RecordBuffer<CommitRecord>, dueTimesDone: Int)? = nil
    ) throws {
        name = "writer-\(index)"
        (self.index, self.spec, self.hooks) = (index, spec, hooks)
        generator = ChangeGenerator(spec, dataset: dataset, shared: shared, writer: index)
        if spec.writers.load == .open {
            var schedule = ArrivalSchedule(spec, writer: index)
            for _ in 0..<(inheritance?.dueTimesDone ?? 0) { _ = schedule.next() }
            self.schedule = schedule
        }
        changes = .allocate(capacity: generator.count)
        spins = spec.writers.threads < ProcessInfo.processInfo.activeProcessorCount
        let capacity = TrialSize.commitsPerWriter(spec)
        recorder =
            try inheritance.map { CommitRecorder($0.records) }
            ?? CommitRecorder(capacity: capacity, prefaulted: min(capacity, 1 << 16))
    }

    deinit { changes.deallocate() }

    /// Number of commits that have returned so far; any thread.
    var commits: Int { progress.load(ordering: .relaxed) }

    /// Due time of the next or current commit; in a closed loop the start of the load or of its time slice. It is
    /// `Int64.max` while a writer in lockstep waits for observers, which has its own timeout. Any thread.
    var waitsUntilNs: Int64 { dueNs.load(ordering: .relaxed) }

    /// The thread's body. It is ready at `start` and lives until `end` opens, so that its CPU clock can be read.
    func run(_ store: any DrivenStore, start: Gate, end: Gate) {
        Pacing.tightenTimerSlack()
        allocations = ThreadAllocations()
        do {
            let writer = try store.makeWriter()
            selfTimed = writer as? any SelfTimedWriter
            // Pinned only after the store has started its threads, because they would inherit the core.
            if let turns = spec.turns, case let code = cp_pin_to_core(Int32(turns.core + index)), code != 0 {
                throw TrialFault.harness("cannot stay on a core (errno \(code)): compare where affinity may be set")
            }
            let windowNs = start.arriveAndWait()
            switch spec.writers.load {
            case .open: try follow(writer, windowNs: windowNs)
            case .closed, .lockstep: try saturate(writer, windowNs: windowNs)
            }
        } catch TrialFault.hang(let reason) {
            fault = .hang(reason)
        } catch {
            fault = .store(name, error)
        }
        end.arriveAndWait()
    }

    /// Draws the next commit.
    private func fillNext() throws {
        next = generator.fill(changes)
        try selfTimed?.prepare(next)
    }

    private func follow(_ writer: any StoreWriter, windowNs: Int64) throws {
        var lastNs: Int64?
        // A successor may have to start first, which can take longer than a short window on a loaded machine.
        let givesUpNs = max(windowNs + spec.givesUpNs, MonotonicClock.nowNs() + spec.overrunNs)
        while lastCommittedNs < givesUpNs, let offsetNs = schedule?.next() {
            if let floor = hooks.floor, let lastNs {
                // Wakes halfway between two commits, so that the probe's threads sleep as long as the store's.
                let middleNs = windowNs + lastNs + (offsetNs - lastNs) / 2
                let spunNs = Pacing.wait(untilNs: middleNs, spin: spins)
                if offsetNs >= 0 { self.spunNs += spunNs }
                floor.wake(isMeasured: lastNs >= 0)
            }
            lastNs = offsetNs
            try fillNext()
            dueNs.store(windowNs + offsetNs, ordering: .relaxed)
            let spunNs = Pacing.wait(untilNs: windowNs + offsetNs, spin: spins)
            if offsetNs >= 0 { self.spunNs += spunNs }
            try commit(writer, dueNs: windowNs + offsetNs)
        }
    }

    private func saturate(_ writer: any StoreWriter, windowNs: Int64) throws {
        let beginNs = windowNs - spec.wallNs(spec.warmUpNs)
        dueNs.store(beginNs, ordering: .relaxed)
        Pacing.sleep(untilNs: beginNs)
        let endNs = windowNs + spec.wallNs(spec.durationNs)
        while awaitTurn(before: endNs) < endNs {
            try fillNext()
            try commit(writer, dueNs: nil)
            if spec.writers.load == .lockstep { try awaitObservers(windowNs) }
        }
    }

    /// Waits for this side's time slice. Returns immediately within a slice, if there are no slices, and at the end of
    /// the load: on a busy machine a thread may miss its slice every time.
    /// - Returns: the current time.
    private func awaitTurn(before endNs: Int64) -> Int64 {
        var nowNs = MonotonicClock.nowNs()
        while let turnNs = spec.turns?.nextNs(after: nowNs, before: endNs) {
            dueNs.store(turnNs, ordering: .relaxed)
            Pacing.sleep(untilNs: turnNs)
            nowNs = MonotonicClock.nowNs()
        }
        return nowNs
    }

    private func awaitObservers(_ windowNs: Int64) throws {
        let startNs = MonotonicClock.nowNs()
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        // The writer cannot be at fault for a standstill from here on.
        dueNs.store(.max, ordering: .relaxed)
        defer { dueNs.store(startNs, ordering: .relaxed) }
        while let group = hooks.group, !group.areAllCovered(lastVersion) {
            let nowNs = MonotonicClock.nowNs()
            let waitedNs = nowNs - startNs
            if deadline.hasPassed() {
                throw TrialFault.hang(
                    "not every observer was called for version \(lastVersion): \(group.behind(lastVersion))")
            }
            // The interval between checks grows to 1/16 of the wait, and at most 10 ms.
            let lookNs = nowNs + min(max(Self.lookEveryNs, waitedNs / 16), Self.lookAtLeastEveryNs)
            let spunNs = Pacing.wait(untilNs: lookNs, spin: spins && waitedNs < Self.spinForNs)
            if nowNs >= windowNs { self.spunNs += spunNs }
        }
    }

    /// Commits, and retries refused commits if the trial's fault causes refusals.
    private func attempt(_ writer: any StoreWriter, locked: () -> Void) throws -> Int64? {
        guard let lengthNs = spec.fault.injection.refusesForNs else { return try writer.commit(next, locked: locked) }
        let startNs = MonotonicClock.nowNs()
        while true {
            do {
                return try writer.commit(next, locked: locked)
            } catch {
                refusals += 1
                // Throws if refusals last longer than the fault explains.
                if MonotonicClock.nowNs() - startNs > lengthNs + spec.hangTimeoutNs { throw error }
                Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
            }
        }
    }

    private func commit(_ writer: any StoreWriter, dueNs: Int64?) throws {
        var beginNs = MonotonicClock.nowNs()
        var lockedNs = beginNs
        let version = try attempt(writer) { lockedNs = MonotonicClock.nowNs() }
        var committedNs = MonotonicClock.nowNs()
        if let times = selfTimed?.lastTimes {
            (beginNs, lockedNs, committedNs) = (times.sentNs, times.lockedNs, times.doneNs)
        }
        guard let version else { throw TrialFault.refused("the engine gave commit \(commits) no version") }
        recorder.record(
            CommitRecord(
                dueNs: dueNs ?? beginNs, beginNs: beginNs, lockedNs: lockedNs, committedNs: committedNs,
                version: version))
        lastVersion = version
        lastCommittedNs = committedNs
        progress.store(commits + 1, ordering: .relaxed)
        hooks.stalls?.request()
    }
}

extension Injection {
    /// Length in ns of the fault during which refused commits are retried; nil if refusals are errors.
    fileprivate var refusesForNs: Int64? {
        switch self {
        case .diskFull(_, let lengthNs): lengthNs
        // A restart must end within `hang_timeout`.
        case .serverRestarted: 0
        case .none, .stall, .slowdown, .loss, .reorder, .writerKilled, .writerStopped, .observerKilled, .slowFsync,
            .clockStep, .connectionCut, .observerStopped, .largeTransaction:
            nil
        }
    }
}

/// A gate that threads wait at until it opens.
final class Gate: Sendable {
    private struct State {
        var arrived = 0
        /// Value that it was opened with; nil while it is closed.
        var value: Int64?
    }

    private let state: Guarded<State>
    private let changed: TracedCondition

    init(_ name: String) {
        state = Guarded(name, State())
        changed = TracedCondition(name, state)
    }

    /// Waits until the gate is open.
    /// - Returns: the value it was opened with.
    @discardableResult
    func arriveAndWait() -> Int64 {
        state.withLock {
            $0.arrived += 1
            changed.broadcast()
        }
        return state.withLock(after: changed, once: { $0.value != nil }) { $0.value! }
    }

    func open(_ value: Int64) {
        state.withLock {
            $0.value = value
            changed.broadcast()
        }
    }

    var arrivals: Int { state.withLock { $0.arrived } }
}
