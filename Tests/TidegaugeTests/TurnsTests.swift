// Tests of two processes that run in alternating slices.
import StillingWellSeededRandom
import StillingWellSync
import Synchronization
import Testing
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeRun

@Suite("Turns") struct TurnsTests {
    private static func sides(_ lengthNs: Int64) -> [TurnsSpec] {
        [false, true].map { TurnsSpec(lengthNs: lengthNs, isSecond: $0, core: 0) }
    }

    @Test("at no instant is it both sides' turn, and each gets nine tenths of half the time")
    func neverBoth() {
        for seed in testSeeds(20) {
            var random = SeededRandom(seed: seed)
            let lengthNs = Int64.random(in: 1_000...20_000_000, using: &random)
            let sides = Self.sides(lengthNs)
            let fromNs = Int64.random(in: 0...(1 << 50), using: &random)
            var worked: [Int64] = [0, 0]
            let steps: Int64 = 20_000
            for step in 0..<steps {
                // A hundred cycles in all.
                let nowNs = fromNs + step * 200 * lengthNs / steps
                let next = sides.map { $0.nextNs(after: nowNs) }
                #expect(next.contains { $0 != nil }, "seed \(seed): both at \(nowNs)")
                for (side, nextNs) in next.enumerated() {
                    guard let nextNs else {
                        worked[side] += 1
                        continue
                    }
                    #expect(nextNs > nowNs && nextNs - nowNs <= 2 * lengthNs, "seed \(seed)")
                    #expect(sides[side].nextNs(after: nextNs) == nil, "seed \(seed)")
                    #expect(nextNs == 0 || sides[side].nextNs(after: nextNs - 1) != nil, "seed \(seed): a late start")
                }
            }
            for share in worked.map({ Double($0) / Double(steps) }) {
                #expect(abs(share - 0.45) < 0.01, "seed \(seed)")
            }
        }
    }

    @Test(
        "windows of two processes that get ready together begin one slice apart, and have the requested length"
    )
    func windows() {
        for seed in testSeeds(200) {
            var random = SeededRandom(seed: seed)
            let lengthNs = Int64.random(in: 1_000_000...20_000_000, using: &random)
            let sides = Self.sides(lengthNs)
            let readyNs = Int64.random(in: 0...(1 << 50), using: &random)
            let starts = sides.map { $0.startNs(notBefore: readyNs) }
            for (side, startNs) in zip(sides, starts) {
                #expect(startNs >= readyNs && startNs - readyNs < 100_000_000 + 2 * lengthNs, "seed \(seed)")
                #expect(
                    side.nextNs(after: startNs) == nil && side.nextNs(after: startNs - 1) == startNs, "seed \(seed)")
                // A writer that wakes after the end of the load waits for no further slice.
                #expect(side.nextNs(after: startNs - 1, before: startNs - 1) == nil, "seed \(seed)")
                #expect(side.nextNs(after: startNs - 1, before: startNs) == startNs, "seed \(seed)")
            }
            // The second start is one slice after the first. If the first side missed its mark, a multiple of
            // `everyNs`, and waits for the next one, its start is one mark later.
            let cycleNs = 2 * lengthNs
            let everyNs = (100_000_000 + cycleNs - 1) / cycleNs * cycleNs
            #expect([lengthNs, lengthNs - everyNs].contains(starts[1] - starts[0]), "seed \(seed)")
            let asked = Int64.random(in: 1...1_000_000_000, using: &random)
            let wallNs = sides[0].wallNs(asked)
            let workNs = lengthNs - lengthNs / 10
            #expect(wallNs % (2 * lengthNs) == 0, "seed \(seed)")
            let holds = wallNs / (2 * lengthNs) * workNs
            #expect(holds >= asked && holds - asked < workNs, "seed \(seed)")
        }
    }

    @Test("a writer in turns begins no commit while it is the other side's turn", arguments: [false, true])
    func writersKeepToTheirs(isSecond: Bool) throws {
        var spec = TrialSpec.tiny()
        spec.writers.load = .closed
        spec.measure = ["write_service_time", "achieved_rate", "missed_final"]
        spec.turns = TurnsSpec(isSecond: isSecond, core: 1)
        spec.traceEvents = 100_000
        let cycleNs = 2 * spec.turns!.lengthNs
        func made(_ result: TrialResult) -> [TraceSpan] { result.recordings.trace.filter { $0.name == "commit" } }
        /// Number of cycles with commits. The window begins with a slice of this side.
        func cycles(_ result: TrialResult) -> Int { Set(made(result).map { $0.startNs / cycleNs }).count }
        let result = try runTrial(spec, on: ModelDriver()) { $0.fate != .completed || cycles($0) > 6 }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(cycles(result) > 6, "it worked in \(cycles(result)) turns")
        let commits = made(result)
        // A thread may be preempted between its clock read and the commit, so up to a fifth may be late.
        let late = commits.count { $0.startNs % cycleNs >= spec.turns!.lengthNs }
        #expect(late <= commits.count / 5, "\(late) of \(commits.count) commits were begun in the other's turn")
    }

    @Test("only loads that can pause are run in slices")
    func whoTakesTurns() {
        var closed = TrialSpec.tiny()
        closed.writers.load = .closed
        var lockstep = closed
        lockstep.writers.load = .lockstep
        var remote = closed
        remote.writers.process = .own
        var faulty = closed
        faulty.fault.kind = .loss
        var shared = closed
        shared.dataset.coTenant = .busy
        #expect([closed, lockstep].map(\.canTakeTurns) == [true, true])
        #expect([.tiny(), remote, faulty, shared].map(\.canTakeTurns) == [false, false, false, false])
    }

    @Test("both sides begin each trial together, until one of them leaves")
    func rendezvous() {
        let rendezvous = Rendezvous(parties: 2)
        let met = [Count(), Count()]
        @Sendable func attend(_ side: Int, _ times: Int) {
            for time in 1...times {
                met[side].value.store(time, ordering: .sequentiallyConsistent)
                rendezvous.meet()
                let other = met[1 - side].value.load(ordering: .sequentiallyConsistent)
                #expect(time > 100 || other >= time, "side \(side) began \(time) while the other had come to \(other)")
            }
            rendezvous.leave()
        }
        let thread = TracedThread("other side") { attend(1, 100) }
        attend(0, 250)
        thread.join()
        #expect(met[0].value.load(ordering: .relaxed) == 250)
    }

    private final class Count: Sendable { let value = Atomic<Int>(0) }
}
