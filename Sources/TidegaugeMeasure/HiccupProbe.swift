// Measures how late the machine wakes threads: a thread repeatedly sleeps 1 ms and records how late it woke. Writers
// and observers can be delayed in the same way.
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

/// Records `harness_hiccup` from `start()` to `stop()`, at least once, on a thread named "hiccup".
public final class HiccupProbe: Sendable {
    /// Requested length of each sleep.
    public static let sleepNs: Int64 = 1_000_000

    private let stopRequested = Atomic<Bool>(false)
    /// Used by the probe's thread until `stop()` has joined it.
    private let histogram = DeliveryBound(LatencyHistogram())
    /// Used by the caller of `start()`, and then by that of `stop()`.
    private let thread = DeliveryBound<pthread_t?>(nil)

    public init() {}

    /// Starts the thread. Called once per probe.
    public func start() {
        precondition(thread.value == nil, "a hiccup probe starts once")
        var handle = pthread_t()
        let error = pthread_create(
            &handle, nil,
            { argument in
                ObjectPointer.take(argument!, as: HiccupProbe.self).run()
                return nil
            }, ObjectPointer.kept(self))
        precondition(error == 0, "cannot start the hiccup thread (errno \(error)); raise `ulimit -u`")
        thread.value = handle
    }

    /// Ends the thread and returns its records. Empty if it was never started.
    public func stop() -> LatencyHistogram {
        stopRequested.store(true, ordering: .relaxed)
        thread.claim()
        if let handle = thread.value.take() { pthread_join(handle, nil) }
        histogram.claim()
        return histogram.value
    }

    private func run() {
        ProcFile.write("hiccup", to: "/proc/thread-self/comm")
        Pacing.tightenTimerSlack()
        Self.watch(
            now: MonotonicClock.nowNs, sleep: Pacing.sleep(untilNs:), record: { histogram.value.record($0) },
            isOver: { stopRequested.load(ordering: .relaxed) })
    }

    /// Records how late each wake-up is. The sleeps follow one another without a gap, so that no delay is missed.
    static func watch(now: () -> Int64, sleep: (Int64) -> Void, record: (Int64) -> Void, isOver: () -> Bool) {
        var wokeNs = now()
        repeat {
            let dueNs = wokeNs + sleepNs
            sleep(dueNs)
            wokeNs = now()
            record(wokeNs - dueNs)
        } while !isOver()
    }
}
