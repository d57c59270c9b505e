// A Combine scheduler on a run loop. Immediate actions go to the loop directly. Delayed ones wait sorted by time, with
// one alarm set for the first.
//
// The lock also guards the mutable state of actions. They run, and are released, without it.
import StillingWellBasis
import StillingWellSync

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Runs the work of Combine operators on a run loop, such as that of a `RunLoopThread`.
///
///     let scheduler = PublisherScheduler.on(thread)
///     notes.publisher().debounce(for: .milliseconds(100), scheduler: scheduler).sink { … }
///
/// Any thread may schedule. Immediate actions run in order, never inside the call that schedules them. Due actions run
/// in order of their times, then of their scheduling; those scheduled meanwhile wait for the next pass. An action may
/// run the loop itself. No action runs early; tolerances are ignored. Something must run the loop. The scheduler is
/// kept alive while an action waits.
public final class PublisherScheduler: Scheduler, Sendable {
    /// No options exist.
    public enum SchedulerOptions {}

    fileprivate let handOff: RunLoopHandOff
    private let clock: any SchedulerClock
    private let agenda = Guarded("publisher scheduler", Agenda())
    private let alarm = SetOnce<any SchedulerAlarm>()
    private let alarmNs = DeliveryBound<Int64?>(nil)
    private let isTurnAsked = DeliveryBound(false)

    /// Makes a scheduler on the run loop of the current thread.
    public init(clock: any SchedulerClock = RunLoopClock()) {
        self.clock = clock
        handOff = RunLoopHandOff("publishers")
        alarm.set(clock.makeAlarm { [weak self] in self?.ring() })
    }

    /// Makes a scheduler on the run loop of a thread that has not been stopped. Any thread; waits for that thread.
    public static func on(_ thread: RunLoopThread, clock: any SchedulerClock = RunLoopClock()) -> PublisherScheduler {
        // The closure throws nothing.
        try! thread.performAndWait { PublisherScheduler(clock: clock) }
    }

    deinit {
        alarm.known?.end()
        handOff.invalidate()
    }

    public var now: PublisherTime { PublisherTime(ns: clock.nowNs) }
    public var minimumTolerance: PublisherTime.Stride { PublisherTime.Stride(ns: 0) }

    var waitingCount: Int { agenda.withLock { $0.waiting.count } }

    // MARK: Scheduling

    /// Runs an action in the loop's next pass. O(1).
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let action = DeliveryBound(action, to: handOff.context)
        handOff.perform { [self] in withExtendedLifetime(self) { action.value() } }
    }

    /// Runs an action at a time, or in the next pass if that is past. O(waiting actions).
    public func schedule(
        after date: PublisherTime, tolerance: PublisherTime.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) { add(ScheduledAction(self, dueNs: date.ns, intervalNs: nil, action)) }

    /// Runs an action at a time and then at every interval, until the returned object is cancelled or released. Missed
    /// times are made up for by one run; later runs keep to the original grid. O(waiting actions).
    /// - Parameter interval: greater than zero.
    public func schedule(
        after date: PublisherTime, interval: PublisherTime.Stride, tolerance: PublisherTime.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        stopUnless(
            interval.ns > 0, "an action cannot be repeated every \(interval.ns) ns: give an interval above zero")
        let scheduled = ScheduledAction(self, dueNs: date.ns, intervalNs: interval.ns, action)
        add(scheduled)
        return AnyCancellable { [weak self] in self?.cancel(scheduled) }
    }

    private func add(_ action: ScheduledAction) {
        let isFirst = agenda.withLock {
            $0.insert(action)
            return $0.waiting.last === action
        }
        if isFirst { setAlarmSoon() }
    }

    /// Cancels an action. It does not run any more unless it was already taken from the agenda.
    private func cancel(_ action: ScheduledAction) {
        let (body, wasFirst) = agenda.withLock {
            let wasFirst = $0.waiting.last === action
            $0.remove(action)
            return (action.body.take(), wasFirst)
        }
        withExtendedLifetime(body) {}
        if wasFirst { setAlarmSoon() }
    }

    // MARK: On the run loop's thread

    /// Handles the alarm. Any thread.
    private func ring() {
        handOff.perform { [weak self] in
            self?.alarmNs.value = nil
            self?.turn()
        }
    }

    /// Runs the actions that are due. Actions added meanwhile wait for the next pass.
    private func turn() {
        isTurnAsked.value = false
        let nowNs = clock.nowNs
        let last = agenda.withLock { $0.lastNumber }
        while let action = agenda.withLock({ $0.takeFirst(dueAt: nowNs, upTo: last) }) {
            // Set before the action, which may run the loop itself: that pass then continues with the others.
            setAlarm()
            action()
        }
        setAlarm()
    }

    private func setAlarmSoon() {
        if handOff.isCurrent { setAlarm() } else { handOff.perform { [weak self] in self?.setAlarm() } }
    }

    /// Sets the alarm for the first waiting action, or requests a pass if it is due.
    private func setAlarm() {
        let firstNs = agenda.withLock { $0.waiting.last?.dueNs }
        if let firstNs, firstNs <= clock.nowNs {
            if isTurnAsked.value { return }
            isTurnAsked.value = true
            return handOff.perform { [weak self] in self?.turn() }
        }
        if firstNs == alarmNs.value { return }
        alarmNs.value = firstNs
        alarm.value.set(toNs: firstNs)
    }
}

private struct Agenda {
    /// Sorted in reverse: the next action is last.
    private(set) var waiting: [ScheduledAction] = []
    private(set) var lastNumber = 0

    mutating func insert(_ action: ScheduledAction) {
        lastNumber += 1
        action.number = lastNumber
        waiting.insert(action, at: place(of: action))
    }

    mutating func remove(_ action: ScheduledAction) {
        let place = place(of: action)
        if place < waiting.count, waiting[place] === action { waiting.remove(at: place) }
    }

    /// Returns the index at which an action is or would be. O(log n).
    private func place(of action: ScheduledAction) -> Int { waiting.partitioningIndex { !action.isBefore($0) } }

    /// Takes the first due action with a number up to `last`. A repeated action is inserted again.
    mutating func takeFirst(dueAt nowNs: Int64, upTo last: Int) -> (@Sendable () -> Void)? {
        // A newer action may be due before older ones. It is skipped.
        guard let place = waiting.lastIndex(where: { $0.dueNs > nowNs || $0.number <= last }),
            waiting[place].dueNs <= nowNs
        else { return nil }
        let action = waiting.remove(at: place)
        guard let intervalNs = action.intervalNs else { return action.body.take() }
        action.dueNs = action.dueNs.next(afterNs: nowNs, everyNs: intervalNs)
        insert(action)
        return action.body
    }
}

/// An action to be run at a time. It keeps its scheduler as long as it waits.
///
/// Unchecked because what changes is guarded by the lock of the scheduler's `agenda`.
private final class ScheduledAction: @unchecked Sendable {
    var dueNs: Int64
    var number = 0
    /// Closure to run. nil once it was taken or cancelled.
    var body: (@Sendable () -> Void)?
    let intervalNs: Int64?

    init(_ scheduler: PublisherScheduler, dueNs: Int64, intervalNs: Int64?, _ body: @escaping () -> Void) {
        self.dueNs = dueNs
        self.intervalNs = intervalNs
        let body = DeliveryBound(body, to: scheduler.handOff.context)
        self.body = { withExtendedLifetime(scheduler) { body.value() } }
    }

    func isBefore(_ other: ScheduledAction) -> Bool { (dueNs, number) < (other.dueNs, other.number) }
}

extension Int64 {
    /// Returns the first of the times after this one, in steps of `intervalNs`, that is also after `nowNs`. Returns the
    /// largest number instead of one that is out of range.
    fileprivate func next(afterNs nowNs: Int64, everyNs intervalNs: Int64) -> Int64 {
        let missed = nowNs > self ? (nowNs - self) / intervalNs : 0
        let (ns, isTooMuch) = (self + missed * intervalNs).addingReportingOverflow(intervalNs)
        return isTooMuch ? .max : ns
    }
}
