import Foundation
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite("Before the first trial")
struct StartLoadTests {
    /// A machine with a hundred ticks per second and a given load.
    private final class Machine {
        /// Busy shares by second. The last one repeats. nil: the kernel does not report them.
        let shares: [Double]?
        var nowNs: Int64 = 5_000_000_000
        private var time = ProcessorTime(busyTicks: 7_000, totalTicks: 90_000)
        private var seconds = 0.0

        init(_ shares: [Double]?) { self.shares = shares }

        func run(isPatient: Bool = true) -> (load: StartLoad, told: [Double], seconds: Double) {
            var told: [Double] = []
            let wait = QuietWait(
                time: { self.shares == nil ? nil : self.time }, nowNs: { self.nowNs },
                sleepUntilNs: { self.sleep(untilNs: $0) })
            let load = wait.run(isPatient: isPatient) { told.append($0) }
            return (load, told, seconds)
        }

        private func sleep(untilNs: Int64) {
            let length = Double(untilNs - nowNs) / 1e9
            let share = shares.map { $0[min(Int(seconds), $0.count - 1)] } ?? 0
            seconds += length
            nowNs = untilNs
            time.totalTicks += Int64(length * 100)
            time.busyTicks += Int64(length * 100 * share)
        }
    }

    @Test("A quiet machine is looked at for a second")
    func quiet() {
        let (load, told, seconds) = Machine([0.1]).run()
        #expect(load == StartLoad(busyShareAtFirst: 0.1, busyShare: 0.1, waitedNs: 0))
        #expect(!load.isBusy && told.isEmpty && seconds == 1)
    }

    @Test("A build's last seconds are waited for, and named once")
    func build() {
        let (load, told, seconds) = Machine([1, 0.9, 0.5, 0.02]).run()
        #expect(load == StartLoad(busyShareAtFirst: 1, busyShare: 0.02, waitedNs: 3_000_000_000))
        #expect(!load.isBusy && told == [1] && seconds == 4)
    }

    @Test("A machine that stays busy is waited for a minute and no longer")
    func busy() {
        let (load, told, seconds) = Machine([0.92]).run()
        #expect(load == StartLoad(busyShareAtFirst: 0.92, busyShare: 0.92, waitedNs: QuietWait.longestNs))
        #expect(load.isBusy && told == [0.92] && seconds == 61)
    }

    @Test("A run without waiting looks once, and a kernel without load figures delays no run")
    func impatient() {
        let (load, told, seconds) = Machine([0.9]).run(isPatient: false)
        #expect(load == StartLoad(busyShareAtFirst: 0.9, busyShare: 0.9, waitedNs: 0))
        #expect(load.isBusy && told.isEmpty && seconds == 0.1)
        let silent = Machine(nil).run()
        #expect(silent.load == StartLoad(busyShareAtFirst: nil, busyShare: nil, waitedNs: 0))
        #expect(!silent.load.isBusy && silent.seconds == 0)
    }

    @Test("All but idle and iowait is busy, stolen time too; guests' time is in user's")
    func kernelText() {
        let stat = "cpu  100 20 30 4000 500 6 7 80 90 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
        #expect(ProcessorTime.parse(stat) == ProcessorTime(busyTicks: 243, totalTicks: 4_743))
        #expect(ProcessorTime.parse("cpu  1 2 3\n") == nil && ProcessorTime.parse("") == nil)
        let time = ProcessorTime(busyTicks: 1, totalTicks: 2)
        #expect(time.busyShare(since: time) == nil)
        #expect(ProcessorTime(busyTicks: 2, totalTicks: 5).busyShare(since: time) == 0.333)
    }

    @Test("The yardsticks of a run are taken at its start and at its end, and a failure is kept")
    func yardsticks() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no room" }
        var report = EnvironmentReport.capture(storeDirectories: [])
        #expect(report.yardsticks == nil && report.startLoad == nil)
        report.begin(StartLoad(busyShareAtFirst: 0.5, busyShare: 0.1, waitedNs: 1)) { one in
            if one == .rawCommit { throw Failure() }
            return 100
        }
        #expect(report.startLoad?.busyShareAtFirst == 0.5)
        report.finish { $0 == .memoryWalk ? 120 : 200 }
        let readings = try #require(report.yardsticks)
        #expect(Set(readings.keys) == Set(Yardstick.allCases))
        #expect(readings[.memoryWalk]?.meanNs == 110 && readings[.memoryWalk]?.obstacle == nil)
        #expect(readings[.twoWakes]?.isSteady == false && readings[.twoWakes]?.meanNs == nil)
        #expect(readings[.twoWakes]?.obstacle == "changed by 2× during the run, from 100 ns to 200 ns")
        #expect(readings[.rawCommit]?.obstacle == "could not be taken: no room" && readings[.rawCommit]?.afterNs == 200)
        let json = try report.json()
        #expect(try JSONDecoder().decode(EnvironmentReport.self, from: json).yardsticks == readings)
        #expect(String(decoding: json, as: UTF8.self).contains("\"raw_commit\" : {"))
    }

    @Test("Every yardstick can be taken here", arguments: Yardstick.allCases)
    func probe(one: Yardstick) throws { #expect(try YardstickProbe.readNs(one) > 0) }
}
