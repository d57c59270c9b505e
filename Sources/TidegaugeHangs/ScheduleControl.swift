// Runs controlled threads one at a time, as a strategy chooses. Another thread may be chosen when the running one
// requests a lock, waits, joins, ends or calls `Tracing.step`. Waits are modelled here, so that the enabled threads are
// known at every step. If threads are left and none can continue, the schedule has found a hang.
//
// `mutex` guards all mutable state. A thread that is not chosen sleeps on its own condition. Only the first thread and
// threads started by controlled threads are controlled. Real locks are taken too, once they are free in the model.
import CStillingWellPlatform
import Glibc
import StillingWellBasis
import StillingWellSync

/// A strategy that chooses one of the enabled threads.
public protocol ScheduleStrategy: AnyObject {
    /// Chooses the next thread.
    /// - Parameters:
    ///   - enabled: numbers of the enabled threads, ascending, never empty.
    ///   - current: the thread that ran last, which need not be enabled.
    ///   - step: number of the step, from 0.
    func choose(_ enabled: [Int], current: Int, step: Int) -> Int
}

/// The end of an explored run.
public enum ScheduleEnd: Sendable {
    case completed
    /// No thread could continue.
    case stuck(WaitSnapshot)
    /// The run exceeded its number of steps.
    case tooLong
}

/// Runs the threads under control, one at a time.
///
/// Unchecked because `mutex` guards everything that changes.
public final class ScheduleControl: ThreadControl, @unchecked Sendable {
    private enum State {
        case ready
        case wants(TracedResource, isReentrant: Bool)
        case waits(TracedResource, giving: TracedResource, mayTimeOut: Bool, isSignalled: Bool)
        case until(TracedResource, mayTimeOut: Bool, () -> Bool)
        case joins(Int)
        case ended
    }

    private final class Thread {
        let name: String
        var tid: Int32 = 0
        var state = State.ready
        var timedOut = false
        var loop: ExploredLoop?
        let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init(_ name: String) {
            self.name = name
            wake.initialize(to: pthread_cond_t())
            pthread_cond_init(wake, nil)
        }
    }

    /// Limit of consecutive time-outs without other progress. A wait with a time-out ends if no other thread can
    /// continue.
    private static let maximumIdleTimeOuts = 12

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let finished = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let strategy: any ScheduleStrategy
    private let maximumSteps: Int
    private var threads: [Thread] = []
    private var owners: [TracedResource: Int] = [:]
    /// Number of nested requests of an owner for a resource that it holds.
    private var depths: [TracedResource: Int] = [:]
    private var running = 0
    private var idleTimeOuts = 0
    /// Thread that last continued because of a time-out.
    private var lateThread = -1
    private var outcome: ScheduleEnd?
    private var isChoosing = false
    /// Number of steps at which there was a choice. `schedule` has those at which the default was not chosen.
    private var steps = 0
    private var schedule = Schedule()

    private init(_ strategy: any ScheduleStrategy, maximumSteps: Int) {
        (self.strategy, self.maximumSteps) = (strategy, maximumSteps)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        finished.initialize(to: pthread_cond_t())
        pthread_cond_init(finished, nil)
    }

    // MARK: From outside

    /// Runs `body` on a controlled thread, with the threads it starts, until all have ended, none can continue, or the
    /// steps are used up. Threads that have not ended by then sleep forever. One run at a time per process; the caller
    /// is not controlled.
    /// - Returns: how it ended, the schedule that replays it, and the number of steps with a choice.
    public static func run(
        _ strategy: any ScheduleStrategy, maximumSteps: Int = 20_000, _ body: @escaping @Sendable () -> Void
    ) -> (end: ScheduleEnd, schedule: Schedule, steps: Int) {
        Tracing.begin(Tracing.Mode.exploring)
        let control = ScheduleControl(strategy, maximumSteps: maximumSteps)
        let number = control.register("root")
        let (handle, _) = ThreadStart.start("root") {
            control.begin(number)
            body()
            control.end()
        }
        pthread_detach(handle)
        control.locked { while control.outcome == nil { pthread_cond_wait(control.finished, control.mutex) } }
        Tracing.stop()
        return (control.outcome!, control.schedule, control.steps)
    }

    /// Lets the strategy choose from here on. Before, the running thread continues as long as it can. On a controlled
    /// thread.
    public static func beginChoosing() { choose(true) }

    /// Stops asking the strategy. On a controlled thread.
    public static func endChoosing() { choose(false) }

    private static func choose(_ isChoosing: Bool) {
        if let control = ofThisThread { control.locked { control.isChoosing = isChoosing } }
    }

    // MARK: Threads

    private final class Membership {
        let control: ScheduleControl
        let number: Int
        init(_ control: ScheduleControl, _ number: Int) { (self.control, self.number) = (control, number) }
    }

    private static var membership: Membership? {
        cp_trace_slot(1).map { ObjectPointer.object($0) }
    }

    /// Control of the calling thread, or nil if it is not controlled.
    static var ofThisThread: ScheduleControl? { membership?.control }

    private var me: Int { Self.membership!.number }

    package func makeLoop() -> any ControlledLoop {
        let loop = ExploredLoop()
        locked { threads[me].loop = loop }
        return loop
    }

    package var loop: (any ControlledLoop)? { locked { threads[me].loop } }

    /// Returns a number for a thread about to be started.
    package func register(_ name: String) -> Int {
        locked {
            threads.append(Thread(name))
            return threads.count - 1
        }
    }

    /// Enters control on a new thread, and waits until it is chosen. First call on the thread.
    package func begin(_ number: Int) {
        cp_set_trace_slot(1, ObjectPointer.kept(Membership(self, number)))
        locked {
            threads[number].tid = cp_thread_id()
            // The first thread runs at once. Others wait until they are chosen.
            if threads.count > 1 || running != number { sleepUntilChosen(number) }
        }
    }

    /// Leaves control. Last call on the thread.
    package func end() {
        let membership = Self.membership!
        locked {
            threads[membership.number].state = .ended
            schedule(from: membership.number)
        }
        ObjectPointer.release(ObjectPointer.borrowed(membership))
        cp_set_trace_slot(1, nil)
    }

    package func step() { locked { pass(.ready) } }

    /// - Parameter isReentrant: whether the owner may request the resource again; the resource itself then handles
    ///   that.
    package func acquire(_ resource: TracedResource, isReentrant: Bool) {
        locked {
            let number = me
            if isReentrant, owners[resource] == number { depths[resource, default: 0] += 1 }
            pass(.wants(resource, isReentrant: isReentrant))
            owners[resource] = number
        }
    }

    package func release(_ resource: TracedResource) {
        locked {
            guard owners[resource] == me else { return }
            if let depth = depths[resource], depth > 0 { depths[resource] = depth - 1 } else { owners[resource] = nil }
        }
    }

    /// - Returns: false after a time-out.
    package func wait(on condition: TracedResource, giving lock: TracedResource, mayTimeOut: Bool) -> Bool {
        locked {
            let number = me
            owners[lock] = nil
            pass(.waits(condition, giving: lock, mayTimeOut: mayTimeOut, isSignalled: false))
            owners[lock] = number
            return !threads[number].timedOut
        }
    }

    package func broadcast(_ condition: TracedResource) {
        locked {
            for thread in threads {
                if case .waits(condition, let lock, let mayTimeOut, _) = thread.state {
                    thread.state = .waits(condition, giving: lock, mayTimeOut: mayTimeOut, isSignalled: true)
                }
            }
        }
    }

    package func wait(for resource: TracedResource, mayTimeOut: Bool, until isDone: @escaping () -> Bool) {
        locked { pass(.until(resource, mayTimeOut: mayTimeOut, isDone)) }
    }

    package func join(_ number: Int) { locked { pass(.joins(number)) } }

    // MARK: Choosing (all under `mutex`)

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Puts the calling thread into a state. Returns once it is chosen.
    private func pass(_ state: State) {
        let number = me
        threads[number].state = state
        threads[number].timedOut = false
        schedule(from: number)
        if running != number || outcome != nil { sleepUntilChosen(number) }
        threads[number].state = .ready
    }

    private func sleepUntilChosen(_ number: Int) {
        while running != number || outcome != nil { pthread_cond_wait(threads[number].wake, mutex) }
    }

    private func isEnabled(_ number: Int) -> Bool {
        switch threads[number].state {
        case .ready: true
        case .wants(let resource, let isReentrant):
            owners[resource].map { isReentrant && $0 == number } ?? true
        case .waits(_, let lock, _, let isSignalled): isSignalled && owners[lock] == nil
        case .until(_, _, let isDone): isDone()
        case .joins(let other): if case .ended = threads[other].state { true } else { false }
        case .ended: false
        }
    }

    private func mayTimeOut(_ number: Int) -> Bool {
        switch threads[number].state {
        case .waits(_, let lock, let mayTimeOut, _): mayTimeOut && owners[lock] == nil
        case .until(_, let mayTimeOut, _): mayTimeOut
        default: false
        }
    }

    private func schedule(from current: Int) {
        if outcome != nil { return }
        var enabled = threads.indices.filter(isEnabled)
        if enabled.isEmpty {
            let late = threads.indices.filter(mayTimeOut)
            idleTimeOuts += 1
            guard !late.isEmpty, idleTimeOuts <= Self.maximumIdleTimeOuts else { return finish() }
            lateThread = late[idleTimeOuts % late.count]
            enabled = [lateThread]
            threads[lateThread].timedOut = true
        } else if enabled != [lateThread] {
            // A step of the thread that timed out alone is not progress.
            idleTimeOuts = 0
        }
        let next: Int
        if enabled.count == 1 {
            next = enabled[0]
        } else if !isChoosing {
            next = Schedule.defaultChoice(enabled, current: current)
        } else {
            next = strategy.choose(enabled, current: current, step: steps)
            if next != Schedule.defaultChoice(enabled, current: current) { schedule.switches[steps] = next }
            steps += 1
            if steps > maximumSteps { return finish(.tooLong) }
        }
        running = next
        if next != current { pthread_cond_signal(threads[next].wake) }
    }

    private func finish(_ how: ScheduleEnd? = nil) {
        let allEnded = threads.allSatisfy { if case .ended = $0.state { true } else { false } }
        outcome = how ?? (allEnded ? .completed : .stuck(snapshot()))
        pthread_cond_broadcast(finished)
    }

    /// Returns the model's holds and waits, completed by recorded places.
    private func snapshot() -> WaitSnapshot {
        var result = threads.map { WaitSnapshot.Thread(tid: $0.tid, name: $0.name) }
        for (resource, owner) in owners { result[owner].holds.append(.init(resource)) }
        for (index, thread) in threads.enumerated() {
            switch thread.state {
            case .ready, .ended: break
            case .wants(let resource, _), .waits(let resource, _, _, _), .until(let resource, _, _):
                result[index].wait = .init(resource)
            case .joins(let other):
                let resource = TracedResource(.thread, threads[other].name)
                result[index].wait = .init(resource)
                result[other].holds.append(.init(resource))
            }
        }
        let recorded = WaitSnapshot.recorded()
        for index in result.indices {
            guard let known = recorded.threads.first(where: { $0.tid == result[index].tid }) else { continue }
            if let wait = known.wait, result[index].wait != nil { result[index].wait = wait }
            for hold in known.holds {
                if let at = result[index].holds.firstIndex(where: { $0.resource == hold.resource }) {
                    result[index].holds[at] = hold
                }
            }
        }
        // Without a time: durations mean nothing here, and two runs of one schedule must have the same report.
        return WaitSnapshot(threads: result.filter { $0.tid != 0 })
    }
}
