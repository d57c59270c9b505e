// The clock and alarm of a scheduler. Tests replace them.
import CoreFoundation
import StillingWellBasis

#if !Publishers
    #error("StillingWellCombine needs trait Publishers of the package tidegauge: add it to `traits:` of the dependency")
#endif

/// A clock of a `PublisherScheduler`.
public protocol SchedulerClock: Sendable {
    /// Nanoseconds since an arbitrary start. Monotonic. Any thread.
    var nowNs: Int64 { get }
    /// Makes the alarm that wakes a scheduler. Called once for each scheduler, on the thread of its run loop.
    /// - Parameter ring: called when the set time has come, on any thread.
    func makeAlarm(_ ring: @escaping @Sendable () -> Void) -> any SchedulerAlarm
}

/// An alarm of a scheduler.
public protocol SchedulerAlarm: AnyObject, Sendable {
    /// Sets the time of the next ring in nanoseconds, replacing the earlier one. nil clears it. The alarm rings once,
    /// not before that time. On the thread of the scheduler's run loop.
    func set(toNs timeNs: Int64?)
    /// Stops the alarm for good. Any thread.
    func end()
}

/// The system's monotonic clock, and a timer of the run loop.
public struct RunLoopClock: SchedulerClock {
    /// Makes the clock.
    public init() {}

    public var nowNs: Int64 { MonotonicClock.nowNs() }

    public func makeAlarm(_ ring: @escaping @Sendable () -> Void) -> any SchedulerAlarm { RunLoopAlarm(self, ring) }
}

/// A timer of a run loop, in its common modes. The loop retains it until `end()`.
private final class RunLoopAlarm: SchedulerAlarm {
    /// Interval of the timer in s. It repeats, because a timer that does not is invalid after it has fired.
    private static let neverS = 1e10

    private let clock: RunLoopClock
    /// Core Foundation allows any thread to end it. Only the thread of its loop sets it.
    nonisolated(unsafe) private let timer: CFRunLoopTimer

    init(_ clock: RunLoopClock, _ ring: @escaping @Sendable () -> Void) {
        self.clock = clock
        timer = CFRunLoopTimerCreateWithHandler(
            kCFAllocatorDefault, CFAbsoluteTimeGetCurrent() + Self.neverS, Self.neverS, 0, 0
        ) { _ in ring() }
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopCommonModes)
    }

    func set(toNs timeNs: Int64?) {
        let delayS = timeNs.map { max(0, Double($0) - Double(clock.nowNs)) / 1e9 } ?? Self.neverS
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + min(delayS, Self.neverS))
    }

    func end() { CFRunLoopTimerInvalidate(timer) }
}
