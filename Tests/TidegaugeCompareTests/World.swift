// A simulated world: figures are drawn from known distributions, so that a verdict can be compared with the truth.
import Foundation
import StillingWellSeededRandom
import TidegaugeCompare
import TidegaugeMeasure

@testable import TidegaugeSpec

extension TrialSpec {
    static func point(_ variant: String = "") -> TrialSpec {
        TrialSpec(
            scenario: "s", scenarioSHA: "cafe", driver: "model", variant: variant, trial: 0, seed: 1,
            durability: "memory", dataset: DatasetSpec(items: 10),
            observers: ObserversSpec(
                count: 1, queries: .same, match: 0.5, sort: .none, deliver: .queue, threads: 1, idleQueries: 0),
            writers: WritersSpec(
                threads: 1, load: .open, rateHz: 10, arrivals: .uniform, burst: 1, changes: ["touch": 1],
                rowsPerCommit: 1, keys: .uniform),
            measure: [], warmUpNs: 0, durationNs: 1, hangTimeoutNs: 1)
    }
}

/// Distribution of a subject's figures: a true effect (a logarithm) and the noise of its pairs.
struct Truth {
    var effect = 0.0
    var sigma = 0.03
    /// Probability that a pair is void.
    var voidShare = 0.0
    var seconds = 1.0
    var gate = FigureName("write_service_time", "p50")
    var points = [""]
    var fate: (isHead: Bool, fate: TrialFate)?
    /// Returns further figures of base and head. The generator is that of the world.
    var more: (inout SeededRandom) -> [(name: FigureName, base: Double?, head: Double?)] = { _ in [] }
}

struct World {
    var truths: [Truth]
    var random: SeededRandom

    init(_ truths: [Truth], seed: UInt64) {
        self.truths = truths
        random = SeededRandom(seed: seed)
    }

    func plan(pairs: Int = 20, budget: Double? = nil, seed: UInt64 = 1) -> ComparisonPlan {
        func side(_ name: String) -> ComparedSide {
            ComparedSide(name: name, commit: String(repeating: "a", count: 40), executable: "/x", fingerprint: "f")
        }
        let subjects = truths.enumerated().map { index, truth in
            ComparedSubject(
                scenario: "s\(index)", driver: "model", purpose: "?", gate: truth.gate.metric,
                statistic: truth.gate.statistic, points: truth.points.map { TrialSpec.point($0) })
        }
        return ComparisonPlan(
            base: side("base"), head: side("head"), subjects: subjects, pairs: pairs, budgetSeconds: budget, seed: seed)
    }

    mutating func record(_ assignment: ComparisonEngine.Assignment, _ plan: ComparisonPlan, at: Double) -> PairRecord {
        let truth = truths[assignment.subject]
        let points = zip(truth.points, assignment.headFirst).map { variant, headFirst in
            // Disturbances that last for minutes hit both sides.
            let level = 1_000 * exp(0.5 * sin(at / 50))
            let head = level * exp(truth.effect + truth.sigma * normal())
            let more = truth.more(&random)
            func side(_ gate: Double, _ isHead: Bool) -> SideTrial {
                let values = more.compactMap { figure in
                    (isHead ? figure.head : figure.base).map { SideTrial.Value(figure.name, $0) }
                }
                let fails = truth.fate.map { $0.isHead == isHead } ?? false
                return SideTrial(
                    fate: fails ? truth.fate!.fate : .completed,
                    values: fails ? [] : [SideTrial.Value(truth.gate, gate)] + values)
            }
            return PointPair(variant: variant, headFirst: headFirst, base: side(level, false), head: side(head, true))
        }
        let isVoid = Double.random(in: 0..<1, using: &random) < truth.voidShare
        return PairRecord(
            subject: assignment.subject, number: assignment.number, stage: assignment.stage, atSeconds: at,
            lengthSeconds: truth.seconds, points: points, void: isVoid ? "steal on head" : nil)
    }

    /// Runs a whole comparison.
    mutating func compare(_ plan: ComparisonPlan, counted: [CountedRow] = []) -> ComparisonEngine {
        var engine = ComparisonEngine(plan, counted: counted)
        while let assignment = engine.next() {
            engine.take(record(assignment, plan, at: engine.spentSeconds))
        }
        return engine
    }

    mutating func normal() -> Double {
        let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &random))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }
}
