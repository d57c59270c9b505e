import Foundation
import StillingWellTestThreads
import Synchronization
import Testing

@testable import TidegaugeMeasure

@Suite("Probes", .serialized, .onThreads)
struct ProbeTests {
    /// Runs `body` on a thread of the given name that stays alive until told to end.
    private final class NamedThread: @unchecked Sendable {
        private let worked = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)
        private let go = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)
        private let named = DispatchSemaphore(value: 0)

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            let thread = Thread { [self] in
                ProcFile.write(name, to: "/proc/thread-self/comm")
                named.signal()
                go.wait()
                body()
                worked.signal()
                mayEnd.wait()
                ended.signal()
            }
            thread.start()
            named.wait()
        }

        func work() {
            go.signal()
            worked.wait()
        }

        func end() {
            mayEnd.signal()
            ended.wait()
        }
    }

    private static func burn(cpuNs: Int64) {
        let endNs = CPUProbe.currentThreadNs() + cpuNs
        while CPUProbe.currentThreadNs() < endNs {}
    }

    @Test("CPU time is charged to the role of the thread that used it")
    func roles() {
        let writer = NamedThread("tg-writer-0") { Self.burn(cpuNs: 20_000_000) }
        let observer = NamedThread("tg-observer-0") { Self.burn(cpuNs: 5_000_000) }
        let probe = CPUProbe()
        let start = probe.snapshot()
        writer.work()
        observer.work()
        let delta = probe.delta(since: start)
        writer.end()
        observer.end()
        let roles = delta.byRole { name in
            name.hasPrefix("tg-writer") ? .writer : name.hasPrefix("tg-observer") ? .observer : .other
        }
        #expect(Set(roles.keys) == Set(ThreadRole.allCases))
        #expect((20_000_000..<26_000_000).contains(roles[.writer] ?? 0))
        #expect((5_000_000..<9_000_000).contains(roles[.observer] ?? 0))
        #expect(roles[.upkeep] == 0)
        // `other` has what the threads do not account for, so the sum is never less.
        #expect(roles.values.reduce(0, +) >= delta.processNs)
    }

    @Test("A thread that starts within the window is charged to no role")
    func bornWithin() {
        let probe = CPUProbe()
        let start = probe.snapshot()
        let late = NamedThread("tg-writer-9") { Self.burn(cpuNs: 10_000_000) }
        late.work()
        let delta = probe.delta(since: start)
        late.end()
        let roles = delta.byRole { $0.hasPrefix("tg-writer") ? .writer : .other }
        #expect(roles[.writer] == 0)
        #expect((roles[.other] ?? 0) >= 10_000_000)
    }

    @Test("CPU time of ended, renamed and replaced threads is charged to `other`")
    func deadThreads() {
        let start = CPUSnapshot(
            processNs: 1_000,
            threads: [
                ThreadCPU(tid: 1, name: "w-0", cpuNs: 100), ThreadCPU(tid: 2, name: "w-1", cpuNs: 100),
                ThreadCPU(tid: 3, name: "w-2", cpuNs: 100), ThreadCPU(tid: 4, name: "w-3", cpuNs: 500),
            ])
        let end = CPUSnapshot(
            processNs: 2_000,
            threads: [
                ThreadCPU(tid: 1, name: "w-0", cpuNs: 150), ThreadCPU(tid: 3, name: "other", cpuNs: 900),
                ThreadCPU(tid: 4, name: "w-3", cpuNs: 20),
            ])
        let roles = CPUDelta(from: start, to: end).byRole { _ in .writer }
        #expect(roles[.writer] == 50 && roles[.other] == 950)
    }

    @Test("A thread's name is read as the kernel has it")
    func names() {
        let thread = NamedThread("tg role 7") {}
        #expect(CPUProbe().threads().contains { $0.name == "tg role 7" })
        thread.work()
        thread.end()
    }

    @Test("Steal and stalls are read out of the kernel's own words")
    func pressureText() throws {
        let stat = "cpu  10 20 30 40 50 60 70 1234 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
        #expect(PressureProbe.parseStealNs(stat, ticksPerSecond: 100) == 12_340_000_000)
        #expect(PressureProbe.parseStealNs("cpu  1 2 3\n", ticksPerSecond: 100) == nil)
        #expect(PressureProbe.parseStealNs("", ticksPerSecond: 100) == nil)
        let stalls = PressureProbe.parseStallsNs(
            "some avg10=0.00 avg60=1.50 avg300=0.10 total=4711\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n")
        #expect(stalls.some == 4_711_000 && stalls.full == 12_000)
        #expect(PressureProbe.parseStallsNs("").some == nil)
    }

    @Test func stolenTimeIsKnownButForATick() {
        var window = PressureProbe.read()
        let tickNs = 1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK)))
        for (ticks, atLeast) in [(Int64(0), Int64(0)), (1, 0), (3, 2)] {
            window.stealNs = ticks * tickNs
            #expect(window.stealAtLeastNs == atLeast * tickNs)
        }
        window.stealNs = nil
        #expect(window.stealAtLeastNs == nil)
    }

    @Test("A window of pressure is a difference, and a counter that is missing stays missing")
    func pressureDifference() {
        let before = PressureProbe.read()
        var after = PressureProbe.read()
        #expect(after.since(before).involuntarySwitches >= 0)
        after.involuntarySwitches = before.involuntarySwitches + 3
        after.stealNs = before.stealNs.map { $0 + 7 }
        after.ioFullNs = nil
        let window = after.since(before)
        #expect(window.involuntarySwitches == 3)
        #expect(window.stealNs == before.stealNs.map { _ in 7 })
        #expect(window.ioFullNs == nil)
    }

    @Test("A stop of the process is a hiccup, both during a sleep and between two sleeps", arguments: [true, false])
    func hiccupsHaveNoGap(duringSleep: Bool) {
        let stopNs: Int64 = 200_000_000
        var clockNs: Int64 = 0
        var seen: [Int64] = []
        HiccupProbe.watch(
            now: { clockNs },
            sleep: { dueNs in
                clockNs = max(clockNs, dueNs)
                if duringSleep, seen.count == 1 { clockNs += stopNs }
            }, record: { seen.append($0) },
            isOver: {
                if !duringSleep, seen.count == 1 { clockNs += stopNs }
                return seen.count == 3
            })
        // A stop between two sleeps is seen as what is left of it after the sleep.
        #expect(seen == [0, duringSleep ? stopNs : stopNs - HiccupProbe.sleepNs, 0])
    }

    @Test("The hiccup probe has samples if it ran, and none if it did not")
    func hiccups() {
        #expect(HiccupProbe().stop().count == 0)
        let probe = HiccupProbe()
        probe.start()
        let histogram = probe.stop()
        #expect(histogram.count >= 1 && histogram.negativeCount == 0)
    }
}

@Suite("Allocation counters", .enabled(if: AllocationProbe.isAvailable))
struct AllocationTests {
    @Test("Swift's own allocations are counted, to the thread that made them")
    func swiftAllocations() throws {
        let counters = try #require(ThreadAllocations())
        let allocatedBefore = counters.allocatedBytes
        do {
            let array = [UInt8](repeating: 7, count: 1 << 20)
            #expect(array.last == 7)
        }
        let grown = counters.allocatedBytes - allocatedBefore
        #expect(grown >= 1 << 20 && grown < 1 << 22)
    }

    @Test("malloc is jemalloc's")
    func mallocIsReplaced() throws {
        let counters = try #require(ThreadAllocations())
        let before = counters.allocatedBytes
        let memory = try #require(malloc(123_456))
        let after = counters.allocatedBytes
        free(memory)
        #expect(after - before >= 123_456)
    }

    // 1 GiB is far more than other tests can free meanwhile. The block is never touched, so it costs no memory.
    @Test("Live bytes rise with the held memory")
    func live() throws {
        let before = try #require(AllocationProbe.liveBytes())
        let memory = try #require(malloc(1 << 30))
        let during = try #require(AllocationProbe.liveBytes())
        free(memory)
        #expect(during >= before + 1 << 29)
    }
}
