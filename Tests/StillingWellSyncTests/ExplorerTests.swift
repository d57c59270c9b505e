// Tests of controlled schedules.
import Testing

@testable import StillingWellSync
@testable import TidegaugeHangs

/// Shared between threads under control, of which one runs at a time.
private final class Shared: @unchecked Sendable {
    var value = 0
    var log: [Int] = []
}

extension TracingTests {
    @Suite("Explorer")
    struct ExplorerTests {
        /// Two threads read, then write. An update is lost if one runs between the other's steps. Depth 2.
        private static let lostUpdate = ExploredProgram {
            let shared = Shared()
            let lock = TracedMutex("counter")
            ScheduleControl.beginChoosing()
            let threads = (0..<2).map { number in
                TracedThread("adder-\(number)") {
                    let seen = lock.withLock { shared.value }
                    lock.withLock { shared.value = seen + 1 }
                }
            }
            for thread in threads { thread.join() }
            return shared.value == 2 ? nil : "an update was lost"
        }

        /// Fails if B runs after A's first step, and A runs to its end before B's second step. Depth 3.
        private static let twoSwitches = ExploredProgram {
            let shared = Shared()
            ScheduleControl.beginChoosing()
            let a = TracedThread("a") {
                for number in [1, 2, 3] {
                    Tracing.step()
                    shared.log.append(number)
                }
            }
            let b = TracedThread("b") {
                for number in [10, 20] {
                    Tracing.step()
                    shared.log.append(number)
                }
            }
            a.join()
            b.join()
            return shared.log == [1, 10, 2, 3, 20] ? "the two were interleaved" : nil
        }

        /// Two threads take two locks in opposite orders.
        private static let inverted = ExploredProgram {
            let a = TracedMutex("a")
            let b = TracedMutex("b")
            ScheduleControl.beginChoosing()
            let left = TracedThread("left") { a.withLock { b.withLock {} } }
            let right = TracedThread("right") { b.withLock { a.withLock {} } }
            left.join()
            right.join()
            return nil
        }

        @Test func theDefaultScheduleIsSequential() {
            for program in [Self.lostUpdate, Self.twoSwitches, Self.inverted] {
                var explorer = Explorer(program)
                let found = explorer.run(ReplayedSchedule(Schedule()), "default")
                #expect(found?.reason == nil)
            }
        }

        @Test(arguments: [2, 3])
        func pctFindsABugOfItsDepthWithinItsBound(depth: Int) {
            let program = depth == 2 ? Self.lostUpdate : Self.twoSwitches
            var explorer = Explorer(program)
            _ = explorer.run(ReplayedSchedule(Schedule()), "default")
            let steps = explorer.longestRun
            // A run finds it with a probability of at least 1/(n·k^(d−1)), where n = 3 threads. Ten times as many
            // runs miss it at most once in 20,000.
            var runs = 3
            for _ in 1..<depth { runs *= max(steps, 2) }
            var found = 0
            for seed in 0..<UInt64(10 * runs)
            where explorer.run(PCTSchedule(depth: depth, steps: steps, seed: seed &* 7_919 &+ 13), "PCT") != nil {
                found += 1
            }
            #expect(found >= 1, "not in \(10 * runs) runs of \(steps) steps")
        }

        @Test func aDeadlockIsFoundNamedShrunkAndReplayed() throws {
            var explorer = Explorer(Self.inverted)
            let first = explorer.search(schedules: 500, seed: 1)
            let found = try #require(first)
            #expect(found.cycle == ["left>b", "right>a"])
            let shrunk = explorer.shrink(found)
            #expect(shrunk.schedule.switches.count <= 2)
            let schedule = try #require(Schedule(shrunk.schedule.description))
            for _ in 0..<20 {
                let again = explorer.run(ReplayedSchedule(schedule), "replay")
                #expect(again?.cycle == ["left>b", "right>a"])
                #expect(again?.schedule == schedule)
            }
        }

        @Test func aLostWakeUpIsAHangThatNobodyHolds() throws {
            // The lock is released between the check of the flag and the wait for it.
            let program = ExploredProgram {
                let shared = Shared()
                let lock = TracedMutex("flag")
                let condition = TracedCondition("flag raised", lock)
                ScheduleControl.beginChoosing()
                let waiter = TracedThread("waiter") {
                    let isRaised = lock.withLock { shared.value == 1 }
                    if !isRaised { lock.withLock { _ = condition.wait() } }
                }
                lock.withLock {
                    shared.value = 1
                    condition.broadcast()
                }
                waiter.join()
                return nil
            }
            var explorer = Explorer(program)
            let first = explorer.search(schedules: 500, seed: 3)
            let found = try #require(first)
            #expect(found.reason.contains("'waiter' waits for flag raised"))
        }

        @Test func aTimedWaitEndsWhenNobodyElseCanGoOn() {
            let program = ExploredProgram {
                let lock = TracedMutex("clock")
                let condition = TracedCondition("alarm", lock)
                return lock.withLock { condition.wait(untilNs: 1) } ? "it was in time" : nil
            }
            var explorer = Explorer(program)
            let found = explorer.search(schedules: 5, seed: 1)
            #expect(found?.reason == nil)
        }

        @Test func aRunLoopThreadIsUnderControlToo() {
            let program = ExploredProgram {
                let thread = RunLoopThread("loop")
                let shared = Shared()
                ScheduleControl.beginChoosing()
                for number in 0..<3 { thread.perform { shared.log.append(number) } }
                thread.stop()
                return shared.log == [0, 1, 2] ? nil : "\(shared.log)"
            }
            var explorer = Explorer(program)
            let found = explorer.search(schedules: 200, seed: 5)
            #expect(found?.reason == nil)
        }

        @Test func schedulesReadBack() {
            var schedule = Schedule()
            schedule.switches = [40: 0, 12: 2]
            #expect(schedule.description == "12:2,40:0")
            #expect(Schedule("12:2,40:0") == schedule)
            #expect(Schedule("-") == Schedule())
            #expect(Schedule("12") == nil)
            #expect(Schedule("") == nil)
        }
    }
}
