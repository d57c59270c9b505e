import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeCompare

@Suite("Judging")
struct JudgeTests {
    private func rows(_ truth: Truth, seed: UInt64 = 1) -> [ComparedRow] {
        var world = World([truth], seed: seed)
        return Judge(world.compare(world.plan())).rows()
    }

    private func row(_ rows: [ComparedRow], _ metric: String) -> ComparedRow? {
        rows.first { $0.name.metric == metric }
    }

    @Test("A shifted metric is advice; a metric of one side only is reported as such")
    func advice() {
        let rows = rows(
            Truth(more: { random in
                let noise = (0..<4).map { _ in Double.random(in: 0.98...1.02, using: &random) }
                return [
                    (FigureName("writer_cpu", "value"), 100 * noise[0], 120 * noise[1]),
                    (FigureName("lock_wait", "p50"), 100 * noise[2], 100 * noise[3]),
                    (FigureName("brand_new", "value"), nil, 7), (FigureName("long_gone", "value"), 3, nil),
                    (FigureName("harness_hiccup", "p99"), 1, 100),
                ]
            }))
        #expect(row(rows, "writer_cpu")?.verdict == .regressed)
        #expect(abs((row(rows, "writer_cpu")?.change ?? 0) - 0.2) < 0.03)
        #expect(row(rows, "lock_wait")?.verdict == .unchanged)
        #expect(row(rows, "brand_new")?.verdict == .onlyHead && row(rows, "brand_new")?.head == 7)
        #expect(row(rows, "long_gone")?.verdict == .onlyBase)
        #expect(row(rows, "harness_hiccup") == nil, "the machine is not judged")
        // None of them is a gate.
        #expect(rows.filter(\.isGate).map(\.verdict) == [.unchanged])
    }

    @Test("Of 100 figures of pure noise hardly any is reported")
    func falseDiscoveries() {
        let rows = rows(
            Truth(more: { random in
                (0..<100).map { index in
                    (
                        FigureName("noise\(index)", "value"), Double.random(in: 1...2, using: &random),
                        Double.random(in: 1...2, using: &random)
                    )
                }
            }))
        #expect(rows.count { !$0.isGate && $0.isNews } <= 2)
    }

    @Test("A count may be zero; a cost under zero has no ratio, and is compared by difference")
    func scales() {
        let rows = rows(
            Truth(more: { random in
                [
                    (FigureName("missed_final", "value"), 0, 1),
                    (FigureName("spurious_notifications", "value"), 0, 0),
                    (FigureName("upkeep_cost", "value"), Double.random(in: -1...1, using: &random), 1),
                ]
            }))
        #expect(row(rows, "missed_final")?.verdict == .regressed)
        #expect(row(rows, "spurious_notifications")?.verdict == .unchanged)
        let cost = row(rows, "upkeep_cost")
        #expect(cost?.isDifference == true && cost?.pairs == 20 && cost?.threshold == 100)
        #expect(cost.map { $0.change! > 0.3 && $0.change! < 1.7 && $0.verdict == .unchanged } == true)
    }

    @Test("A gate without enough samples for its median is judged by its mean")
    func meanStandsIn() {
        var truth = Truth(gate: FigureName("time_to_first_delivery", "p50"))
        #expect(rows(truth)[0].name.statistic == "p50")
        truth.gate = FigureName("time_to_first_delivery", "mean")
        var world = World([truth], seed: 1)
        var plan = world.plan()
        plan.subjects[0].statistic = "p50"
        let row = Judge(world.compare(plan)).rows()[0]
        #expect(row.name.statistic == "mean" && row.verdict == .unchanged)
    }

    @Test("Pairs are void by noise, and by nothing that was measured")
    func voidRule() {
        func side(
            steal: Double = 0, hiccup: Int64? = nil, wait: Double = 0, due: Int? = 100, value: Double = 1
        ) -> SideTrial {
            var noise = NoiseAccount(stealShare: steal, hiccupP99Ns: hiccup)
            noise.waitShare = wait
            return SideTrial(
                fate: .completed, values: [.init(FigureName("lock_wait", "p50"), value)],
                noise: noise, dueCommits: due)
        }
        func reason(
            _ base: SideTrial, _ head: SideTrial, _ rule: VoidRule = VoidRule(), inTurns: Bool? = nil
        ) -> String? {
            rule.reason([PointPair(variant: "", headFirst: false, inTurns: inTurns, base: base, head: head)])
        }
        #expect(reason(side(), side(value: 1_000)) == nil)
        #expect(reason(side(steal: 0.03), side()) == "steal on base")
        #expect(reason(side(), side(hiccup: 6_000_000)) == "hiccup_p99 on head")
        #expect(reason(side(), side(hiccup: 6_000_000), VoidRule(NoiseLimits(calibratedHiccupNs: 2e6))) == nil)
        #expect(reason(side(), side(wait: 0.11)) == "cpu_wait on head" && reason(side(), side(wait: 0.09)) == nil)
        #expect(reason(side(), side(wait: 0.5), inTurns: true) == nil)
        #expect(reason(side(), side(due: 98)) == "pacing")
        #expect(reason(side(due: nil), side(due: 98)) == nil)
        #expect(VoidRule().mostVoids(pairs: 20) == 4)
        // Steal that hits both sides alike does not void a pair that ran in turns, unless there is much of it.
        #expect(reason(side(steal: 0.1), side(steal: 0.11), inTurns: true) == nil)
        #expect(reason(side(steal: 0.1), side(steal: 0.13), inTurns: true) == "steal on one side")
        #expect(reason(side(steal: 0.2), side(steal: 0.21), inTurns: true) == "steal on head")
        #expect(reason(side(steal: 0.3), side(), .keepingEverything, inTurns: true) == nil)
    }

    @Test("Thresholds are those of the procedure")
    func thresholds() {
        for (metric, statistic, threshold) in [
            ("write_service_time", "p50", 0.02), ("writer_cpu", "value", 0.02), ("end_to_end_latency", "p50", 0.05),
            ("object_rate", "value", 0.05), ("end_to_end_latency", "p99", 0.1), ("missed_final", "value", 0),
            ("upkeep_bytes", "value", 0.01),
        ] {
            #expect(Criterion(metric: metric, statistic: statistic).threshold == threshold, "\(metric)")
        }
    }
}
