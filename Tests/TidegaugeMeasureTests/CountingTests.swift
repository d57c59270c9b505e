import CStillingWellPlatform
import Foundation
import StillingWellTestThreads
import Synchronization
import Testing

@testable import TidegaugeMeasure

@Suite("Counting", .serialized, .onThreads)
struct CountingTests {
    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    @Test("The threads of a process are not asleep while one of them runs")
    func sleep() throws {
        // Other tests run meanwhile. Only a process of its own could be completely asleep.
        let isRunning = DispatchSemaphore(value: 0)
        // The loop makes no system call, in which it could sleep for a moment.
        let isEnded = Flag()
        let thread = Thread {
            isRunning.signal()
            while !isEnded.value.load(ordering: .relaxed) {}
        }
        thread.start()
        isRunning.wait()
        #expect(cp_others_asleep_ns() == -1)
        isEnded.value.store(true, ordering: .relaxed)
    }

    @Test("Another thread answers in a signal handler while it waits for a semaphore")
    func interruption() {
        let release = DispatchSemaphore(value: 0)
        let isWaiting = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var tid: Int32 = 0
        let thread = Thread {
            tid = cp_thread_id()
            isWaiting.signal()
            release.wait()
        }
        thread.start()
        isWaiting.wait()
        #expect(cp_mark_role(tid, 2, 10_000_000_000))
        #expect(cp_mark_role(0, 1, 0))
        #expect(!cp_mark_role(tid, CP_ROLES, 0))
        release.signal()
        #expect(!cp_mark_role(-1, 0, 0), "there is no such thread")
    }

    @Test("Programs are found on the PATH")
    func programs() {
        #expect(Subprocess.find("sh") != nil)
        #expect(Subprocess.find("no such program") == nil)
    }
}
