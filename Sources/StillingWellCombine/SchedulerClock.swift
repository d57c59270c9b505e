// The time a scheduler goes by, and what wakes its run loop: the machine's, or in a test one's own.
import CoreFoundation
import StillingWellBasis

#if !Publishers
    #error("StillingWellCombine needs trait Publishers of the package tidegauge: add it to `traits:` of the dependency")
#endif

/// What a `PublisherScheduler` takes the time from.
public protocol SchedulerClock: Sendable {
    /// Nanoseconds since some beginning; never goes back. Any thread.
    var nowNs: Int64 { get }
    /// Makes what wakes a scheduler. Called once, on the thread of the scheduler's run loop.
    /// - Parameter ring: to be called when the time has come that was set; on any thread.
    func makeAlarm(_ ring: @escaping @Sendable () -> Void) -> any SchedulerAlarm
}

/// What wakes a scheduler.
public protocol SchedulerAlarm: AnyObject, Sendable {
    /// Has it ring once, at a time in nanoseconds or later, in place of what was set before; nil has it not ring. On the
    /// thread of the scheduler's run loop.
    func set(toNs timeNs: Int64?)
    /// It rings no more. Any thread.
    func end()
}

/// The machine's monotonic clock, and a timer of the run loop.
public struct RunLoopClock: SchedulerClock {
    /// The clock of every run loop.
    public init() {}

    public var nowNs: Int64 { MonotonicClock.nowNs() }

    public func makeAlarm(_ ring: @escaping @Sendable () -> Void) -> any SchedulerAlarm { RunLoopAlarm(self, ring) }
}

/// One timer of a run loop, in its common modes. The loop holds it until `end()`.
private final class RunLoopAlarm: SchedulerAlarm {
    /// A timer that does not repeat is of no use after it has rung once.
    private static let neverS = 1e10

    private let clock: RunLoopClock
    /// Core Foundation ends it on any thread; it is set on its own.
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
