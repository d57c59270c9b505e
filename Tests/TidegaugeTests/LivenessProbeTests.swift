// Tests that distinguish threads that wait from threads that compute, for reports of hangs.
import CStillingWellPlatform
import Dispatch
import Foundation
import Synchronization
import Testing
import TidegaugeMeasure

@testable import TidegaugeTrial

@Suite struct LivenessProbeTests {
    private func run(_ script: String, _ body: (Int32) throws -> Void) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        try process.run()
        defer {
            // Only SIGKILL works: a child has the signal mask of the thread that started it.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try body(process.processIdentifier)
    }

    @Test func whoSleepsIsNotAtWork() throws {
        try run("exec sleep 600") { child in
            #expect(LivenessProbe.threads(of: child) == [])
            var deadline = HangDeadline(timeoutNs: 1_000_000, child: child)
            Pacing.sleep(untilNs: deadline.endNs)
            let isOver = deadline.hasPassed()
            #expect(isOver)
            #expect(HangReport.fromOutside(child).kind == .stall)
        }
    }

    @Test func whoComputesGetsMoreTimeButNotForEver() throws {
        try run("while :; do :; done") { child in
            #expect(LivenessProbe.threads(of: child) == ["sh"])
            var deadline = HangDeadline(timeoutNs: 1_000_000, mostExtensions: 3, child: child)
            for _ in 0..<3 {
                Pacing.sleep(untilNs: deadline.endNs)
                let isOver = deadline.hasPassed()
                #expect(!isOver)
            }
            Pacing.sleep(untilNs: deadline.endNs)
            let isOver = deadline.hasPassed()
            #expect(isOver)
            // After some progress the time starts again.
            deadline.restart()
            Pacing.sleep(untilNs: deadline.endNs)
            let isOverAgain = deadline.hasPassed()
            #expect(!isOverAgain)
            #expect(HangReport.fromOutside(child).kind == .slow)
        }
    }

    /// Threads that take turns, as under valgrind, each sleep for most of the time.
    @Test func whoComputesInTurnsIsAtWork() throws {
        let isOver = Atomic(false)
        let threads = 10
        let wakes = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
        let all = DispatchGroup()
        for index in 0..<threads {
            all.enter()
            let thread = Thread {
                cp_set_thread_name("in-turn-\(index)")
                while true {
                    wakes[index].wait()
                    if isOver.load(ordering: .relaxed) { break }
                    let endNs = MonotonicClock.nowNs() + 1_000_000
                    while MonotonicClock.nowNs() < endNs {}
                    wakes[(index + 1) % threads].signal()
                }
                all.leave()
            }
            thread.start()
        }
        wakes[0].signal()
        let names = LivenessProbe.threads()
        isOver.store(true, ordering: .relaxed)
        for wake in wakes { wake.signal() }
        all.wait()
        #expect(names.contains { $0.hasPrefix("in-turn-") }, "\(names)")
    }
}
