// Tests of the run-loop scheduler.
import CoreFoundation
import OpenCombine
import StillingWell
import StillingWellSync
import Testing

@testable import StillingWellCombine

/// Log of events. Any thread.
private final class Done: @unchecked Sendable {
    private let lock = TracedMutex("done")
    private let changed: TracedCondition
    private var lines: [String] = []

    init() { changed = TracedCondition("done", lock) }

    var all: [String] { lock.withLock { lines } }

    func note(_ line: String) {
        lock.withLock {
            lines.append(line)
            changed.broadcast()
        }
    }

    func wait(count: Int) { lock.withLock { while lines.count < count { changed.wait() } } }
}

@Suite("The Combine scheduler of a run loop", .timeLimit(.minutes(15)))
struct SchedulerTests {
    private let thread = RunLoopThread("scheduler test")
    private let clock = ManualClock()
    private let scheduler: PublisherScheduler
    private let done = Done()

    init() { scheduler = PublisherScheduler.on(thread, clock: clock) }

    private func after(_ ms: Int) -> PublisherTime { scheduler.now.advanced(by: .milliseconds(ms)) }

    /// Waits until the loop has run as many further blocks as `turns` says, one after the other.
    private func settle(_ turns: Int = 3) {
        for _ in 0..<turns {
            let turned = Done()
            scheduler.schedule { turned.note("") }
            turned.wait(count: 1)
        }
    }

    private func advance(_ ms: Int) {
        clock.advance(byNs: Int64(ms) * 1_000_000)
        settle()
    }

    @Test("immediate actions run on the loop's thread, later, in order")
    func now() throws {
        let (thread, scheduler, done) = (thread, scheduler, done)
        for number in 0..<100 { scheduler.schedule { done.note("\(number) \(thread.isCurrent)") } }
        settle()
        #expect(done.all == (0..<100).map { "\($0) true" })
        let inside = try thread.performAndWait { () -> [String] in
            scheduler.schedule { done.note("from the loop") }
            return done.all
        }
        #expect(inside.count == 100)
        settle()
        #expect(done.all.last == "from the loop")
        thread.stop()
    }

    @Test("scheduled actions run at their time, in order of times, then of scheduling")
    func later() {
        let done = done
        scheduler.schedule(after: after(30)) { done.note("30") }
        scheduler.schedule(after: after(10)) { done.note("10 a") }
        scheduler.schedule(after: after(20)) { done.note("20") }
        scheduler.schedule(after: after(10)) { done.note("10 b") }
        scheduler.schedule(after: after(-10)) { done.note("past") }
        settle()
        #expect(done.all == ["past"])
        #expect(clock.alarmsNs == [10_000_000])
        advance(9)
        #expect(done.all == ["past"])
        advance(1)
        #expect(done.all == ["past", "10 a", "10 b"])
        advance(100)
        #expect(done.all == ["past", "10 a", "10 b", "20", "30"])
        #expect(clock.alarmsNs.isEmpty && scheduler.waitingCount == 0)
        thread.stop()
    }

    @Test("a repeated action keeps its grid, runs once for missed times, and ends when it is cancelled")
    func repeating() {
        final class Witness: Sendable {}
        let done = done
        var witness: Witness? = Witness()
        weak let seen = witness
        let repeated = scheduler.schedule(after: after(10), interval: .milliseconds(10)) { [witness] in
            done.note("tick")
            withExtendedLifetime(witness) {}
        }
        witness = nil
        for _ in 0..<3 { advance(10) }
        #expect(done.all.count == 3)
        advance(35)
        #expect(done.all.count == 4)
        #expect(clock.alarmsNs == [70_000_000])
        advance(5)
        #expect(done.all.count == 5)
        repeated.cancel()
        settle()
        #expect(scheduler.waitingCount == 0 && clock.alarmsNs.isEmpty)
        #expect(seen == nil)
        advance(1_000)
        #expect(done.all.count == 5)
        repeated.cancel()
        thread.stop()
    }

    @Test("a repeated action may cancel itself; releasing the returned value cancels it too")
    func cancelInside() {
        let done = done
        nonisolated(unsafe) var mine: (any Cancellable)?
        mine = scheduler.schedule(after: after(1), interval: .milliseconds(1)) {
            done.note("once")
            mine?.cancel()
        }
        _ = scheduler.schedule(after: after(1), interval: .milliseconds(1)) { done.note("never") }
        advance(1)
        advance(10)
        #expect(done.all == ["once"])
        #expect(scheduler.waitingCount == 0)
        thread.stop()
    }

    @Test("cancelling the first waiting action sets the alarm for the second")
    func alarms() {
        let done = done
        let first = scheduler.schedule(after: after(10), interval: .seconds(1)) { done.note("first") }
        scheduler.schedule(after: after(20)) { done.note("second") }
        settle()
        #expect(clock.alarmsNs == [10_000_000])
        first.cancel()
        settle()
        #expect(clock.alarmsNs == [20_000_000])
        advance(20)
        #expect(done.all == ["second"])
        thread.stop()
    }

    @Test("an action that is added for now or the past waits for the next pass; an action may run the loop again")
    func nested() {
        let (scheduler, done) = (scheduler, done)
        let now = after(0)
        let due = after(10)
        scheduler.schedule(after: due) {
            done.note("1")
            scheduler.schedule(after: now) { done.note("4") }
            while !done.all.contains("3") { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 10, true) }
            done.note("1 ends")
        }
        scheduler.schedule(after: due) { done.note("2") }
        scheduler.schedule(after: due) { done.note("3") }
        advance(10)
        let all = done.all
        #expect(Set(all.prefix(5)) == ["1", "2", "3", "4", "1 ends"] && all.count == 5)
        #expect(all.filter { ["1", "2", "3"].contains($0) } == ["1", "2", "3"])
        #expect(all.last == "1 ends")
        thread.stop()
    }

    @Test("with the real clock every action runs, and none runs early")
    func machineClock() {
        let scheduler = PublisherScheduler.on(thread)
        let done = done
        let times = [3, 1, 2].map { scheduler.now.advanced(by: .milliseconds($0)) }
        for (index, time) in times.enumerated() {
            scheduler.schedule(after: time) { done.note("\(index) \(scheduler.now >= time)") }
        }
        let repeated = scheduler.schedule(after: times[0], interval: .milliseconds(1)) { done.note("tick") }
        done.wait(count: 6)
        repeated.cancel()
        #expect(done.all.filter { $0 != "tick" } == ["1 true", "2 true", "0 true"])
        #expect(scheduler.minimumTolerance == .zero)
        thread.stop()
    }

    @Test("a scheduler without pending actions is released with its alarm; one with a pending action is not")
    func leaks() {
        var scheduler: PublisherScheduler? = PublisherScheduler.on(thread, clock: clock)
        weak let gone = scheduler
        #expect(clock.alarmCount == 2)
        let done = done
        scheduler!.schedule(after: after(10)) { done.note("kept") }
        let repeated = scheduler!.schedule(after: after(5), interval: .milliseconds(1)) { done.note("cancelled") }
        repeated.cancel()
        scheduler = nil
        #expect(gone != nil)
        clock.advance(byNs: 10_000_000)
        done.wait(count: 1)
        // The turn ends once its thread has run another block.
        while gone != nil { settle() }
        #expect(done.all == ["kept"])
        #expect(clock.alarmCount == 1)
        thread.stop()
    }

    @Test("values of a connection on the thread are debounced there")
    func operators() throws {
        let test = try PublisherStore()
        let (thread, scheduler, done) = (thread, scheduler, done)
        nonisolated(unsafe) var cancellable: AnyCancellable?
        let arrived = Done()
        try thread.performAndWait {
            let connection = try test.store.connect(on: .runLoop)
            cancellable = try connection.objects(Memo.self).publisher()
                .handleEvents(receiveOutput: { arrived.note("\($0.count)") })
                .debounce(for: .milliseconds(100), scheduler: scheduler)
                .sink(receiveCompletion: { _ in }) { done.note("\($0.count) \(thread.isCurrent)") }
        }
        arrived.wait(count: 1)
        for id in 0..<3 {
            try test.store.write { try $0.add(Memo(id: id, score: 0)) }
            arrived.wait(count: id + 2)
        }
        settle()
        #expect(done.all.isEmpty)
        advance(100)
        #expect(done.all == ["3 true"])
        try thread.performAndWait { cancellable?.cancel() }
        thread.stop()
    }

    @Test(
        "strides have the stated nanoseconds, and are clamped to the range of Int64",
        arguments: [
            (PublisherTime.Stride.seconds(2), 2_000_000_000), (.milliseconds(-3), -3_000_000),
            (.microseconds(4), 4_000),
            (.nanoseconds(5), 5), (.seconds(0.25), 250_000_000), (1.5, 1_500_000_000), (3, 3_000_000_000),
            (.seconds(Int.max), .max), (.seconds(Int.min), .min), (.seconds(Double.infinity), .max),
            (.seconds(-1e300), .min), (.seconds(Double.nan), 0),
            (.seconds(Int.max) + .nanoseconds(1), .max), (.seconds(Int.min) - .nanoseconds(1), .min),
            (PublisherTime.Stride(ns: .min).magnitude, .max), (2 * .milliseconds(1), 2_000_000),
        ] as [(PublisherTime.Stride, Int64)])
    func distances(_ distance: PublisherTime.Stride, _ ns: Int64) {
        #expect(distance.ns == ns)
        let time = PublisherTime(ns: 7)
        #expect(time.distance(to: time.advanced(by: .seconds(1))) == .seconds(1))
        #expect(PublisherTime(ns: .max).advanced(by: .seconds(1)) == PublisherTime(ns: .max))
    }
}
