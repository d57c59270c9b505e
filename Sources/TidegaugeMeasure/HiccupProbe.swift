// Measures the floor of all latencies: a thread that repeatedly sleeps 1 ms and records how late it woke. Writers and
// observers are delayed in the same way.
import Glibc
import Synchronization

/// Records `harness_hiccup` from `start()` to `stop()`, at least once, on a thread named "hiccup".
public final class HiccupProbe: Sendable {
    /// Requested length of each sleep.
    public static let sleepNs: Int64 = 1_000_000

    private let stopRequested = Atomic<Bool>(false)
    /// The probe's thread's until `stop()` has joined it.
    nonisolated(unsafe) private var histogram = LatencyHistogram()
    /// Whose who starts and stops it.
    nonisolated(unsafe) private var thread: pthread_t?

    public init() {}

    /// Starts the thread. Called once per probe.
    public func start() {
        precondition(thread == nil, "a hiccup probe starts once")
        var handle = pthread_t()
        let error = pthread_create(
            &handle, nil,
            { argument in
                Unmanaged<HiccupProbe>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(error == 0, "cannot start the hiccup thread (errno \(error)); raise `ulimit -u`")
        thread = handle
    }

    /// Ends the thread, within one sleep, and returns its records. Empty if it was never started.
    public func stop() -> LatencyHistogram {
        stopRequested.store(true, ordering: .relaxed)
        if let thread { pthread_join(thread, nil) }
        thread = nil
        return histogram
    }

    private func run() {
        ProcFile.write("hiccup", to: "/proc/thread-self/comm")
        Pacing.tightenTimerSlack()
        Self.watch(
            now: MonotonicClock.nowNs, sleep: Pacing.sleep(untilNs:), record: { histogram.record($0) },
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
