// Combine's scheduler over a run loop: what is to be done now goes straight to the loop, what is to be done later waits in
// order of its time, with one alarm set for the first.
//
// The lock guards what is mutable in the actions too; they run, and are released, without it.
import StillingWellBasis
import StillingWellSync

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Does what operators ask for on a run loop: that of a `RunLoopThread`, or that a connection lives on.
///
///     let scheduler = PublisherScheduler(thread)
///     notes.publisher().debounce(for: .milliseconds(100), scheduler: scheduler).sink { … }
///
/// Any thread may schedule. What is to be done at once is done in the order of asking, each later than the call; what is
/// to be done at a time, in the order of times, and of asking where they are the same. An action may run the loop again.
/// Nothing is done early; a tolerance is not made use of. Something must run the loop. The scheduler is kept as long as
/// something waits.
public final class PublisherScheduler: Scheduler, Sendable {
    /// There are none.
    public enum SchedulerOptions {}

    private let handOff: RunLoopHandOff
    private let clock: any SchedulerClock
    private let agenda = Guarded("publisher scheduler", Agenda())
    /// Set by `init`, before anybody else has the object.
    nonisolated(unsafe) private var alarm: (any SchedulerAlarm)!
    // Both are the run loop's thread's own.
    nonisolated(unsafe) private var alarmNs: Int64?
    nonisolated(unsafe) private var isTurnAsked = false

    /// On the run loop of the current thread.
    public init(clock: any SchedulerClock = RunLoopClock()) {
        self.clock = clock
        handOff = RunLoopHandOff("publishers")
        alarm = clock.makeAlarm { [weak self] in self?.ring() }
    }

    /// On the run loop of a thread that has not been stopped. Any thread; waits for that one.
    public static func on(_ thread: RunLoopThread, clock: any SchedulerClock = RunLoopClock()) -> PublisherScheduler {
        // The closure throws nothing.
        try! thread.performAndWait { PublisherScheduler(clock: clock) }
    }

    deinit {
        alarm.end()
        handOff.invalidate()
    }

    public var now: PublisherTime { PublisherTime(ns: clock.nowNs) }
    public var minimumTolerance: PublisherTime.Stride { PublisherTime.Stride(ns: 0) }

    var waitingCount: Int { agenda.withLock { $0.waiting.count } }

    // MARK: Scheduling

    /// Does it when the loop comes round next. O(1).
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        // Done on the run loop's thread alone, whoever asks for it.
        nonisolated(unsafe) let action = action
        handOff.perform { [self] in withExtendedLifetime(self) { action() } }
    }

    /// Does it at a time, or soon if that is past. O(waiting actions).
    public func schedule(
        after date: PublisherTime, tolerance: PublisherTime.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) { add(ScheduledAction(self, dueNs: date.ns, intervalNs: nil, action)) }

    /// Does it at a time and then at every interval after that, until what is returned is cancelled or let go of. Times
    /// that have been missed are made up for once, and the others keep to the grid. O(waiting actions).
    /// - Parameter interval: more than zero.
    public func schedule(
        after date: PublisherTime, interval: PublisherTime.Stride, tolerance: PublisherTime.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        stopUnless(
            interval.ns > 0, "what is repeated every \(interval.ns) ns is never done: give an interval above zero")
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

    /// No call starts after this, unless it has been taken already.
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

    /// The alarm rings, on any thread.
    private func ring() {
        handOff.perform { [weak self] in
            self?.alarmNs = nil
            self?.turn()
        }
    }

    /// Does what is due. What actions add waits for the next turn.
    private func turn() {
        isTurnAsked = false
        let nowNs = clock.nowNs
        let last = agenda.withLock { $0.lastNumber }
        while let action = agenda.withLock({ $0.takeFirst(dueAt: nowNs, upTo: last) }) {
            // The action may run the loop again, which goes on with the others.
            setAlarm()
            action()
        }
        setAlarm()
    }

    private func setAlarmSoon() {
        if handOff.isCurrent { setAlarm() } else { handOff.perform { [weak self] in self?.setAlarm() } }
    }

    /// Has the loop come here when the first of what waits is due.
    private func setAlarm() {
        let firstNs = agenda.withLock { $0.waiting.last?.dueNs }
        if let firstNs, firstNs <= clock.nowNs {
            if isTurnAsked { return }
            isTurnAsked = true
            return handOff.perform { [weak self] in self?.turn() }
        }
        if firstNs == alarmNs { return }
        alarmNs = firstNs
        alarm.set(toNs: firstNs)
    }
}

private struct Agenda {
    /// Sorted: the first one to be done stands last.
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

    /// Where an action stands or would stand. O(log n).
    private func place(of action: ScheduledAction) -> Int { waiting.partitioningIndex { !action.isBefore($0) } }

    /// Takes out what is due first, of those that were added before; what is repeated waits again.
    mutating func takeFirst(dueAt nowNs: Int64, upTo last: Int) -> (@Sendable () -> Void)? {
        // One that was added since may be due before others that were not.
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

/// Something to be done at a time. It keeps its scheduler as long as it waits.
///
/// Unchecked because what changes is guarded by the lock of the scheduler's `agenda`.
private final class ScheduledAction: @unchecked Sendable {
    var dueNs: Int64
    var number = 0
    /// What is to be done; nil when it has been, or need not.
    var body: (@Sendable () -> Void)?
    let intervalNs: Int64?

    init(_ scheduler: PublisherScheduler, dueNs: Int64, intervalNs: Int64?, _ body: @escaping () -> Void) {
        self.dueNs = dueNs
        self.intervalNs = intervalNs
        // Done on the run loop's thread alone, whoever asks for it.
        nonisolated(unsafe) let body = body
        self.body = { withExtendedLifetime(scheduler) { body() } }
    }

    func isBefore(_ other: ScheduledAction) -> Bool { (dueNs, number) < (other.dueNs, other.number) }
}

extension Int64 {
    /// The first time after `nowNs` of those that follow this one at an interval.
    fileprivate func next(afterNs nowNs: Int64, everyNs intervalNs: Int64) -> Int64 {
        let missed = nowNs > self ? (nowNs - self) / intervalNs : 0
        let (ns, isTooMuch) = (self + missed * intervalNs).addingReportingOverflow(intervalNs)
        return isTooMuch ? .max : ns
    }
}
