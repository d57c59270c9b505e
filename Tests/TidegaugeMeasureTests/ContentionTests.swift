// Tests that other load is distinguished from the trial's own, with readings as a kernel gives them.
import Testing

@testable import TidegaugeMeasure

@Suite("Waiting for a processor")
struct ContentionTests {
    /// Returns the share of waiting in a window of one second. All arguments are in ms.
    private func share(
        own: [(ran: Int64, waited: Int64)], others: Int64, helpers: [(ran: Int64, waited: Int64)] = []
    )
        -> Double
    {
        let ms: Int64 = 1_000_000
        func threads(_ isEnd: Bool) -> [Int32: RunQueueReading.Thread] {
            var threads: [Int32: RunQueueReading.Thread] = [:]
            for (index, thread) in (own + helpers).enumerated() {
                threads[Int32(index)] = .init(
                    ranNs: 77 * ms + (isEnd ? thread.ran * ms : 0), waitedNs: 5 * ms + (isEnd ? thread.waited * ms : 0),
                    isHelper: index >= own.count)
            }
            return threads
        }
        let process = own.reduce(0) { $0 + $1.ran }
        let all = process + helpers.reduce(0) { $0 + $1.ran } + others
        let start = RunQueueReading(
            threads: threads(false), processNs: 900 * ms, machineNs: 50_000 * ms, resolutionNs: 20 * ms)
        let end = RunQueueReading(
            threads: threads(true), processNs: (900 + process) * ms, machineNs: (50_000 + all + 20) * ms,
            resolutionNs: 20 * ms)
        return end.since(start).waitShare
    }

    @Test("A trial that fills the machine waits for its own threads, not for other processes")
    func ownLoad() {
        // Two writers and two observers on two processors: each waits as long as it runs.
        #expect(share(own: [(500, 500), (500, 500), (500, 480), (480, 500)], others: 0) == 0)
        // The usual small load of a system.
        #expect(
            share(own: [(490, 500), (490, 500), (490, 490), (480, 500)], others: 40) < NoiseLimits().mostWaitShare
                / 2
        )
    }

    @Test("Other processes that take the processors are seen, whatever the trial does itself")
    func others() {
        // Two spinning processes and a writer: the writer loses a third of the time.
        #expect(share(own: [(670, 330)], others: 1_330) > 0.2)
        // Twenty of them: a tenth of the speed is left.
        #expect(share(own: [(90, 910)], others: 1_910) > 0.85)
        // A trial with full load, and another process that takes one of the processors.
        #expect(share(own: [(330, 670), (330, 670), (340, 660)], others: 1_000) > NoiseLimits().mostWaitShare)
    }

    @Test("Another process that leaves a processor free takes nothing")
    func beside() {
        #expect(share(own: [(990, 8)], others: 1_000) < 0.01)
        #expect(share(own: [(50, 1)], others: 30) < 0.02)
    }

    @Test("Helper processes of the trial do not count as other processes")
    func helpers() {
        #expect(share(own: [(700, 300), (600, 400)], others: 0, helpers: [(690, 300)]) == 0)
        #expect(share(own: [(500, 500)], others: 900, helpers: [(600, 400)]) > NoiseLimits().mostWaitShare)
    }

    @Test("Fields that the kernel writes are read; missing ones give no reading")
    func parsing() {
        let stat = "cpu  10 1 5 900 50 2 3 7 4 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
        #expect(RunQueueProbe.parseBusyNs(stat, ticksPerSecond: 100) == 210_000_000)
        #expect(RunQueueProbe.parseBusyNs("intr 5\n", ticksPerSecond: 100) == nil)
        let both = RunQueueProbe.parseSchedstat("123456 789 12\n")
        #expect(both?.ranNs == 123_456 && both?.waitedNs == 789)
        #expect(RunQueueProbe.parseSchedstat("") == nil)
    }

    @Test("The process's own threads are in a reading")
    func live() throws {
        guard let reading = RunQueueProbe.read(isOwn: { _, _ in true }) else { return }
        #expect(!reading.threads.isEmpty && reading.machineNs > 0 && reading.processNs > 0)
        let none = try #require(RunQueueProbe.read(isOwn: { _, _ in false }))
        #expect(none.threads.values.allSatisfy { $0.isHelper })
    }
}
