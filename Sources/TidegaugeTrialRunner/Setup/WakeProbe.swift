// Measures the time of two wake-ups on this machine: a thread that sleeps on a futex is woken and wakes a run loop. A
// store whose background thread notifies an observer on a run loop needs them too, unless that thread spins. A writer
// triggers it halfway between two commits, so that its threads sleep about as long as the store's.
//
// The waker writes `startNs` before `word`; the run loop reads it afterwards.
import CStillingWellPlatform
import StillingWellSync
import Synchronization
import TidegaugeMeasure
import TidegaugeTrial

/// Two threads, of which one wakes the other, and a record of the times.
final class WakeProbe: Companion, Sendable {
    /// Timeout in ns of the relay's wait.
    private static let pollNs: Int64 = 1_000_000_000

    /// An atomic that the relay sleeps on.
    nonisolated(unsafe) private let word: UnsafeMutablePointer<UInt32>
    private let stopRequested = Atomic<Bool>(false)
    private let startNs = Atomic<Int64>(0)
    private let isUnderWay = Atomic<Bool>(false)
    /// Used by the run loop's thread until it has been stopped.
    private let samples = DeliveryBound(LatencyHistogram())
    private let loop = RunLoopThread("\(LivenessProbe.wakeFloorPrefix)loop")
    private let relay = SetOnce<TracedThread>()

    init() throws {
        word = .allocate(capacity: 1)
        word.initialize(to: 0)
        let loop = loop
        let signal = try loop.performAndWait { [unowned self] in
            RunLoopSignal("wake floor") { [unowned self] in arrive() }
        }
        relay.set(TracedThread("\(LivenessProbe.wakeFloorPrefix)relay") { [unowned self] in pass(on: signal) })
    }

    deinit { word.deallocate() }

    /// Wakes the relay unless the last wake-up is still under way. Any thread.
    /// - Parameter isMeasured: whether the time is recorded.
    func wake(isMeasured: Bool) {
        guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
        startNs.store(isMeasured ? MonotonicClock.nowNs() : 0, ordering: .releasing)
        _ = cp_add32(word, 1)
        _ = cp_futex_wake_all(word)
    }

    private func pass(on signal: RunLoopSignal) {
        var seen: UInt32 = 0
        while !stopRequested.load(ordering: .acquiring) {
            _ = cp_futex_wait(word, seen, Self.pollNs)
            let now = cp_load32(word)
            if now != seen { signal.signal() }
            seen = now
        }
        signal.invalidate()
    }

    private func arrive() {
        let nowNs = MonotonicClock.nowNs()
        let startNs = startNs.load(ordering: .acquiring)
        if startNs > 0 { samples.value.record(nowNs - startNs) }
        isUnderWay.store(false, ordering: .releasing)
    }

    /// Stops the threads. Call it after the last writer has made its commits, because writers wake them.
    func end(into findings: inout Findings) {
        stopRequested.store(true, ordering: .releasing)
        _ = cp_add32(word, 1)
        _ = cp_futex_wake_all(word)
        relay.value.join()
        loop.stop()
        samples.claim()
        findings.wakeFloor = samples.value
    }
}
