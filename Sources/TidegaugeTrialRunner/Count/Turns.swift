// The order in which the threads of a counted trial run: a writer commits, the engine's own threads follow, then the
// observing threads, one after the other. A turn ends when every other thread sleeps.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Gives turns to threads. Used by the conducting thread.
final class Turns {
    /// Interval in ns between two checks of whether all threads sleep.
    private static let lookEveryNs: Int64 = 200_000

    private let writers: [CountedWriter]
    private let observers: [HeldContext]
    private let hangTimeoutNs: Int64
    /// The engine if its counters are read, which may also run in other processes; otherwise nil.
    private let engine: (any WorkCounting)?
    private var given = 0

    /// Returns when every other thread sleeps. Observing threads then sleep in a block that holds back their
    /// deliveries.
    /// - Parameter most: maximum number of commits.
    init(_ setup: TrialSetup, most: Int) throws {
        hangTimeoutNs = setup.spec.hangTimeoutNs
        let isCountedByEngine = setup.spec.count?.counter == InstructionCounter.engine.rawValue
        engine = isCountedByEngine ? setup.store as? any WorkCounting : nil
        writers = try (0..<setup.spec.writers.threads).map { try CountedWriter($0, setup, most: most) }
        observers = setup.group.sites.map { HeldContext($0) }
        try awaitSleep()
        for observer in observers { try hold(observer) }
    }

    var records: [RecordBuffer<CommitRecord>] { writers.map(\.recorder.records) }

    /// Returns the role of each existing thread except the conducting one.
    /// - Parameter prefixes: name prefixes of the engine's own threads.
    func roles(upkeep prefixes: [String]) -> [(tid: Int32, role: ThreadRole)] {
        let own = cp_thread_id()
        let writing = Set(writers.map(\.tid))
        let observing = Set(observers.map(\.tid))
        return CPUProbe().threads().filter { $0.tid != own }.map { thread in
            if writing.contains(thread.tid) { return (thread.tid, .writer) }
            if observing.contains(thread.tid) { return (thread.tid, .observer) }
            return (thread.tid, prefixes.contains { thread.name.hasPrefix($0) } ? .upkeep : .other)
        }
    }

    /// Gives a turn in which the next writer commits.
    func commit() throws { try turn { $0.commit() } }

    /// Gives a turn without a commit.
    func rest() throws { try turn { $0.rest() } }

    private func turn(_ write: (CountedWriter) -> Void) throws {
        let writer = writers[given % writers.count]
        given += 1
        write(writer)
        try awaitSleep(withEngine: true)
        if let fault = writer.fault { throw fault }
        for observer in observers {
            observer.release()
            try awaitSleep()
            try hold(observer)
        }
    }

    private func hold(_ observer: HeldContext) throws {
        observer.hold()
        try awaitSleep()
    }

    /// Waits until two consecutive checks see the same total CPU time of all other threads, all of them asleep, and no
    /// writer within a task.
    /// - Parameter withEngine: whether the engine's other processes must sleep too.
    private func awaitSleep(withEngine: Bool = false) throws {
        var deadline = HangDeadline(timeoutNs: hangTimeoutNs)
        var beforeNs: Int64 = -1
        while true {
            let nowNs = asleepNs(withEngine ? engine : nil)
            if nowNs >= 0, nowNs == beforeNs, !writers.contains(where: \.isAtWork) { return }
            beforeNs = nowNs
            if deadline.hasPassed() {
                throw TrialFault.hang("a turn of a counted trial has not ended for \(hangTimeoutNs / 1_000_000) ms")
            }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + Self.lookEveryNs)
        }
    }

    /// Returns the CPU time of all other threads and of the engine's processes if all of them sleep, or -1.
    private func asleepNs(_ engine: (any WorkCounting)?) -> Int64 {
        let ownNs = cp_others_asleep_ns()
        guard ownNs >= 0, let engine else { return ownNs }
        return engine.asleepElsewhereNs().map { ownNs + $0 } ?? -1
    }

    /// Lets deliveries run freely and ends the writers.
    func end() {
        for observer in observers { observer.release() }
        for writer in writers { writer.end() }
    }
}

/// A delivery context whose deliveries are held back between `hold` and `release`.
private final class HeldContext: Sendable {
    private let context: DeliveryContext
    private let released = DispatchSemaphore(value: 0)
    /// Kernel ID of the thread that it held last; read while all threads sleep.
    private let lastHeld = Atomic<Int32>(0)
    var tid: Int32 { lastHeld.load(ordering: .relaxed) }

    init(_ context: DeliveryContext) { self.context = context }

    func hold() {
        context.perform { [self] in
            lastHeld.store(cp_thread_id(), ordering: .relaxed)
            // A dispatch queue may use another thread each time.
            cp_mark_role(0, Callgrind.number(of: .observer), 0)
            released.wait()
        }
    }

    func release() { released.signal() }
}
