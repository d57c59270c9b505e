// The floor of what can be measured here and now: a thread that asks to sleep 1 ms, over and over, and notes how much
// later it woke. What the machine does to it, it does to every writer and observer.
import Glibc
import Synchronization

/// Records `harness_hiccup` from `start()` to `stop()`, at least once, on a thread of its own named "hiccup".
public final class HiccupProbe: Sendable {
    /// What the thread asks for each time.
    public static let sleepNs: Int64 = 1_000_000

    private let stopRequested = Atomic<Bool>(false)
    /// The probe's thread's until `stop()` has joined it.
    nonisolated(unsafe) private var histogram = LatencyHistogram()
    /// Whose who starts and stops it.
    nonisolated(unsafe) private var thread: pthread_t?

    public init() {}

    /// Starts the thread. Once per probe.
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

    /// Ends the thread (within a sleep of it) and returns what it saw. Empty if it was never started.
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

    /// Records how late each waking is. From one to the next without a gap: what befalls the thread between two sleeps would
    /// be seen by nobody.
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
