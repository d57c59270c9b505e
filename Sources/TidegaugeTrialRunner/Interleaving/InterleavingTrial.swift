// Runs an interleaving test, from an empty folder to its verdict. Everything that could hang runs on other threads,
// which this thread only watches. Threads that hang live on until the process ends.
import StillingWellSync
import TidegaugeDriver
import TidegaugeHangs
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

enum InterleavingTrial {
    static func run(
        _ spec: TrialSpec, _ driver: any StoreDriver, _ directory: String, _ play: InterleavingSpec,
        report: (TrialProgress) -> Void
    ) -> TrialResult {
        if let obstacle = CapabilityCheck.obstacle(spec, driver.capabilities) {
            return TrialResult(fate: .harnessFault(reason: "refused"), notes: ["\(spec.driver): \(obstacle)"])
        }
        Tracing.start()
        let run = InterleavingRun()
        let startNs = MonotonicClock.nowNs()
        report(.init(.measuring))
        TracedThread("conductor") { run.give(spec, driver, directory, play) }.detach()
        var watchdog = Watchdog(hangTimeoutNs: spec.hangTimeoutNs, "nothing has moved in the interleaving test")
        var hang: HangRecord?
        var nextLookNs = startNs
        while !run.isOver, hang == nil {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
            guard MonotonicClock.nowNs() >= nextLookNs else { continue }
            nextLookNs = MonotonicClock.nowNs() + Watchdog.lookEveryNs
            hang = watchdog.look(progress: run.progress)
        }
        let elapsedNs = MonotonicClock.nowNs() - startNs
        let inversions = HangReport.inversions()
        return Verdict(spec: spec, play: play).result(hang, run.fault, inversions, elapsedNs: elapsedNs)
    }

    /// The test and its outcome. The conducting thread writes them and the watching thread reads them. The watching
    /// thread must not block, so they are guarded by atomics instead of a lock.
    private final class InterleavingRun: Sendable {
        private let test = SetOnce<InterleavingTest>()
        private let outcome = SetOnce<TrialFault?>()

        var isOver: Bool { outcome.known != nil }
        var progress: Int { test.known.map { $0.progress + 1 } ?? 0 }
        var fault: TrialFault? { outcome.known ?? nil }

        func give(_ spec: TrialSpec, _ driver: any StoreDriver, _ directory: String, _ play: InterleavingSpec) {
            do {
                try InterleavingTrial.perform(spec, driver, directory, play) { test.set($0) }
                if let complaint = test.known?.fault { throw TrialFault.store(complaint) }
                outcome.set(nil)
            } catch {
                outcome.set(TrialFault(error))
            }
        }
    }

    /// Performs the test. Returns when every actor has finished and the store is closed. The thread may hang.
    static func perform(
        _ spec: TrialSpec, _ driver: any StoreDriver, _ directory: String, _ play: InterleavingSpec,
        ready: (InterleavingTest) -> Void
    ) throws {
        let store = try driver.open(
            StoreConfiguration(directory: directory, durability: DurabilityLevel(rawValue: spec.durability) ?? .memory))
        try store.load(count: InterleavingSpec.items) { Item(key: Int64($0), group: 0, score: Int64($0), stamp: 0) }
        let test = InterleavingTest(store, play, driver.capabilities)
        ready(test)
        // Every actor is marked active before the first starts, so none counts as idle before it has begun.
        for actor in play.actors { test.begin(actor.name) }
        ScheduleControl.beginChoosing()
        let threads = play.actors.compactMap { actor -> TracedThread? in
            let script = ActorScript(test: test, actor: actor.name)
            guard actor.place == .thread else {
                test.site(actor.name).perform {
                    script.perform(actor.steps, at: actor.name)
                    test.end(actor.name)
                }
                return nil
            }
            return TracedThread(actor.name) {
                script.perform(actor.steps, at: nil)
                test.end(actor.name)
            }
        }
        for thread in threads { thread.join() }
        // Waits for callbacks and for blocks that were handed to other actors.
        let end = TracedResource(.signal, InterleavingTest.pointPrefix + "end")
        let waited = Tracing.wait(for: end, mayTimeOut: false) { test.areAllIdle }
        if !waited {
            while !test.areAllIdle { Pacing.sleep(untilNs: MonotonicClock.nowNs() + 200_000) }
        }
        for actor in play.actors where actor.place != .thread { test.site(actor.name).performAndWait {} }
        ScheduleControl.endChoosing()
        test.ignoreWhatFollows()
        for actor in play.actors where actor.place != .thread {
            test.site(actor.name).performAndWait { test.dismiss(on: actor.name) }
        }
        if !play.actors.contains(where: { $0.allSteps.contains(.close) }) { try store.close() }
        test.end()
    }
}
