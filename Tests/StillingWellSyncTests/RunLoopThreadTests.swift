import CoreFoundation
import Foundation
import StillingWellSync
import Testing

@Suite("Run-loop thread")
struct RunLoopThreadTests {
    @Test("performs blocks in order, on its own thread")
    func order() throws {
        let thread = RunLoopThread("order")
        defer { thread.stop() }
        let seen = TracedMutex("seen")
        nonisolated(unsafe) var numbers: [Int] = []
        for i in 0..<1_000 { thread.perform { seen.withLock { numbers.append(i) } } }
        let onThread = try thread.performAndWait { thread.isCurrent }
        #expect(onThread)
        #expect(seen.withLock { numbers } == Array(0..<1_000))
        #expect(!thread.isCurrent)
    }

    @Test("a block that runs the loop again runs the waiting blocks inside, in order")
    func nestedOrder() throws {
        let thread = RunLoopThread("nested")
        defer { thread.stop() }
        let (all, inside) = try thread.performAndWait { () -> ([Int], [Int]) in
            nonisolated(unsafe) var numbers: [Int] = []
            nonisolated(unsafe) var inside: [Int] = []
            thread.perform {
                numbers.append(1)
                thread.perform { numbers.append(3) }
                while CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, true) == .handledSource {}
                inside = numbers
            }
            thread.perform { numbers.append(2) }
            while CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, true) == .handledSource {}
            return (numbers, inside)
        }
        #expect(all == [1, 2, 3])
        #expect(inside == [1, 2, 3])
    }

    @Test("stops while a block runs the loop again", .timeLimit(.minutes(5)))
    func nestedStop() throws {
        let thread = RunLoopThread("nested stop")
        let isInside = TracedMutex("inside")
        let changed = TracedCondition("inside", isInside)
        nonisolated(unsafe) var hasBegun = false
        nonisolated(unsafe) var hasReturned = false
        thread.perform {
            thread.perform {
                isInside.withLock {
                    hasBegun = true
                    changed.broadcast()
                }
            }
            CFRunLoopRun()
            hasReturned = true
        }
        isInside.withLock { while !hasBegun { changed.wait() } }
        thread.stop()
        #expect(hasReturned)
    }

    @Test("passes errors of a block on to the caller")
    func errors() {
        struct Refused: Error {}
        let thread = RunLoopThread("errors")
        defer { thread.stop() }
        #expect(throws: Refused.self) { try thread.performAndWait { throw Refused() } }
    }

    @Test("runs what was queued before stop")
    func stop() {
        let thread = RunLoopThread("stop")
        let count = TracedMutex("count")
        nonisolated(unsafe) var ran = 0
        for _ in 0..<100 { thread.perform { count.withLock { ran += 1 } } }
        thread.stop()
        #expect(count.withLock { ran } == 100)
    }

    @Test("a signal wakes a loop that sleeps, and signals before the handler starts are one call")
    func signal() throws {
        let thread = RunLoopThread("signal")
        defer { thread.stop() }
        let lock = TracedMutex("calls")
        let changed = TracedCondition("calls", lock)
        nonisolated(unsafe) var calls = 0
        let signal = try thread.performAndWait {
            RunLoopSignal("source") {
                lock.withLock {
                    calls += 1; changed.broadcast()
                }
            }
        }
        try thread.performAndWait { for _ in 0..<10 { signal.signal() } }
        lock.withLock { while calls == 0 { changed.wait() } }
        // Waits for two rounds of the loop. A second call for the same signals would have come by then.
        try thread.performAndWait {}
        try thread.performAndWait {}
        #expect(lock.withLock { calls } == 1)
        signal.invalidate()
        signal.signal()
        try thread.performAndWait {}
        try thread.performAndWait {}
        #expect(lock.withLock { calls } == 1)
    }
}
