// Tests of the recorded traces, read as snapshots and wait-for graphs. The tests run one at a time because a process
// has one recording.
import CStillingWellPlatform
import Foundation
import StillingWellTestThreads
import Testing

@testable import StillingWellSync
@testable import TidegaugeHangs

/// Polls until the condition holds. Returns false after 300 s.
func waitUntil(_ isSo: () -> Bool) -> Bool {
    let deadline = Date().addingTimeInterval(300)
    while !isSo() {
        if Date() > deadline { return false }
        usleep(200)
    }
    return true
}

/// Threads that hang are not joined. They keep what they have captured.
@Suite("Tracing", .serialized, .onThreads)
struct TracingTests {
    @Test func aMutexIsHeldFromWhereItWasTaken() {
        Tracing.start()
        defer { Tracing.stop() }
        let mutex = TracedMutex("held")
        mutex.withLock {
            let me = WaitSnapshot.recorded().threads.first { $0.tid == cp_thread_id() }
            #expect(me?.holds.map(\.resource) == [mutex.resource])
            #expect(me?.holds.first?.place.hasPrefix("TracingTests.swift:") == true)
            #expect(me?.wait == nil)
        }
        let me = WaitSnapshot.recorded().threads.first { $0.tid == cp_thread_id() }
        #expect(me?.holds.isEmpty == true)
    }

    @Test func nothingIsRecordedWhileTracingIsOff() {
        Tracing.start()
        Tracing.stop()
        TracedMutex("untraced").withLock {
            #expect(WaitSnapshot.recorded().threads.isEmpty)
        }
    }

    @Test func twoMutexesInContradictoryOrders() throws {
        Tracing.start()
        defer { Tracing.stop() }
        let a = TracedMutex("a")
        let b = TracedMutex("b")
        let aTaken = Flag()
        let bTaken = Flag()
        TracedThread("left") {
            a.lock()
            aTaken.raise()
            bTaken.await()
            b.lock()
        }.detach()
        TracedThread("right") {
            b.lock()
            bTaken.raise()
            aTaken.await()
            a.lock()
        }.detach()
        #expect(waitUntil { !WaitForGraph(.recorded()).cycles.isEmpty })
        let cycle = try #require(WaitForGraph(.recorded()).cycles.first)
        #expect(cycle.edges == ["left>b", "right>a"])
        #expect(cycle.sentence.contains("'left' holds a (for "))
        #expect(cycle.sentence.contains("waits for b (for "))
        #expect(Tracing.inversions().map(\.classes) == [["a", "b"]])
    }

    @Test func aMutexTakenTwiceByOneThread() {
        Tracing.start()
        defer { Tracing.stop() }
        let mutex = TracedMutex("twice")
        TracedThread("again") {
            mutex.lock()
            mutex.lock()
        }.detach()
        #expect(waitUntil { !WaitForGraph(.recorded()).cycles.isEmpty })
        #expect(WaitForGraph(.recorded()).cycles.map(\.edges) == [["again>twice"]])
    }

    @Test func aQueueAndALock() {
        Tracing.start()
        defer { Tracing.stop() }
        let queue = TracedQueue("feed")
        let mutex = TracedMutex("model")
        let isTaken = Flag()
        let isRunning = Flag()
        TracedThread("caller") {
            mutex.lock()
            isTaken.raise()
            isRunning.await()
            queue.sync {}
        }.detach()
        isTaken.await()
        // Not through the traced queue, which would be recorded as occupied by this block.
        queue.queue.async {
            isRunning.raise()
            _ = waitUntil { Tracing.wait(ofThread: "caller") != nil }
            mutex.lock()
        }
        #expect(waitUntil { !WaitForGraph(.recorded()).cycles.isEmpty })
        let cycle = WaitForGraph(.recorded()).cycles.first
        #expect(cycle?.edges.contains("caller>queue feed") == true)
        #expect(cycle?.edges.contains { $0.hasSuffix(">model") } == true)
    }

    @Test func aRunLoopWaitsForWhoWaitsForIt() {
        Tracing.start()
        defer { Tracing.stop() }
        let thread = RunLoopThread("main")
        let mutex = TracedMutex("serial section")
        let isTaken = Flag()
        let isRunning = Flag()
        TracedThread("background") {
            mutex.lock()
            isTaken.raise()
            isRunning.await()
            try? thread.performAndWait {}
        }.detach()
        thread.perform {
            isRunning.raise()
            isTaken.await()
            mutex.lock()
        }
        #expect(waitUntil { !WaitForGraph(.recorded()).cycles.isEmpty })
        #expect(WaitForGraph(.recorded()).cycles.first?.edges == ["background>run loop main", "main>serial section"])
        #expect(Tracing.inversions().map(\.classes) == [["run loop main", "serial section"]])
    }

    @Test func joiningAThreadThatWaitsForMyLock() {
        Tracing.start()
        defer { Tracing.stop() }
        let mutex = TracedMutex("mine")
        TracedThread("parent") {
            mutex.lock()
            let child = TracedThread("child") { mutex.lock() }
            child.join()
        }.detach()
        #expect(waitUntil { !WaitForGraph(.recorded()).cycles.isEmpty })
        #expect(WaitForGraph(.recorded()).cycles.first?.edges == ["child>mine", "parent>thread child"])
    }

    @Test func aConditionThatAnybodyMaySignalIsNoDeadlock() {
        Tracing.start()
        defer { Tracing.stop() }
        let mutex = TracedMutex("guard")
        let condition = TracedCondition("news", mutex)
        nonisolated(unsafe) var isDone = false
        let thread = TracedThread("waiter") { mutex.withLock { while !isDone { condition.wait() } } }
        #expect(waitUntil { Tracing.wait(ofThread: "waiter")?.resource == condition.resource })
        #expect(WaitForGraph(.recorded()).cycles.isEmpty)
        mutex.withLock {
            isDone = true
            condition.broadcast()
        }
        thread.join()
    }

    @Test func theLastEventsOfAThread() {
        Tracing.start()
        defer { Tracing.stop() }
        let mutex = TracedMutex("busy")
        for _ in 0..<100 { mutex.withLock {} }
        let mine = Tracing.lastEvents().first { $0.tid == cp_thread_id() }
        #expect(mine?.moments.count == 64)
        #expect(mine?.moments.last?.kind == .released)
        #expect(mine?.moments.last?.resource == mutex.resource)
    }

    @Test func theKernelNamesAForeignDeadlock() throws {
        let left = Foreign()
        let right = Foreign()
        let leftTaken = Flag()
        let rightTaken = Flag()
        TracedThread("foreign-left") {
            left.lock()
            leftTaken.raise()
            rightTaken.await()
            right.lock()
        }.detach()
        TracedThread("foreign-right") {
            right.lock()
            rightTaken.raise()
            leftTaken.await()
            left.lock()
        }.detach()
        // Other tests leave hanging threads too, so only this test's names count.
        func cycle() -> WaitCycle? {
            let named = ["foreign-left>pthread mutex", "foreign-right>pthread mutex"]
            return WaitForGraph(KernelView.snapshot()).cycles.first { $0.edges == named }
        }
        #expect(waitUntil { cycle() != nil })
        let tid = try #require(cycle()?.links.first?.tid)
        let frames = ThreadStack.frames(of: tid)
        #expect(frames.contains { $0.contains("lock") }, "\(frames)")
    }
}

/// A mutex of the C library, as in a library without tracing.
private final class Foreign: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }
    func lock() { pthread_mutex_lock(mutex) }
}

/// Raised once and waited for, untraced.
final class Flag: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func raise() { semaphore.signal() }
    func await() {
        semaphore.wait()
        semaphore.signal()
    }
}
