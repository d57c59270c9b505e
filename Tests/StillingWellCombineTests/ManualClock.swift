// A clock that only the test advances.
import StillingWellCombine
import StillingWellSync

final class ManualClock: SchedulerClock, @unchecked Sendable {
    private let lock = TracedMutex("manual clock")
    private var timeNs: Int64 = 0
    private var alarms: [Alarm] = []

    var nowNs: Int64 { lock.withLock { timeNs } }
    /// Times at which alarms are set.
    var alarmsNs: [Int64] { lock.withLock { alarms.compactMap(\.timeNs) } }
    /// Number of alarms.
    var alarmCount: Int { lock.withLock { alarms.count } }

    func makeAlarm(_ ring: @escaping @Sendable () -> Void) -> any SchedulerAlarm {
        let alarm = Alarm(self, ring)
        lock.withLock { alarms.append(alarm) }
        return alarm
    }

    /// Advances the clock and rings the alarms that are due.
    func advance(byNs ns: Int64) {
        let ringing = lock.withLock {
            timeNs += ns
            let ringing = alarms.filter { $0.timeNs.map { $0 <= timeNs } ?? false }
            for alarm in ringing { alarm.timeNs = nil }
            return ringing
        }
        for alarm in ringing { alarm.ring() }
    }

    private final class Alarm: SchedulerAlarm, @unchecked Sendable {
        let clock: ManualClock
        let ring: @Sendable () -> Void
        var timeNs: Int64?

        init(_ clock: ManualClock, _ ring: @escaping @Sendable () -> Void) {
            self.clock = clock
            self.ring = ring
        }

        func set(toNs timeNs: Int64?) { clock.lock.withLock { self.timeNs = timeNs } }
        func end() { clock.lock.withLock { clock.alarms.removeAll { $0 === self } } }
    }
}
