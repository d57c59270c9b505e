// Tests of random valid scenarios against their generator. TIDEGAUGE_SEED replays a seed.
import StillingWellSeededRandom
import Testing

@testable import TidegaugeSpec

@Suite struct RandomScenarioTests {
    private struct Generated {
        var text: String
        var axes: [(key: String, texts: [String], values: [String])]
        var repetitions: Int
        var queue: Bool
    }

    /// Returns one of the spellings of a number.
    private static func spelt(_ value: Int, _ random: inout SeededRandom) -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where value >= 1_000: "\(value / 1_000)_" + String(String(value % 1_000 + 1_000).dropFirst())
        case 1 where value % 1_000 == 0 && value > 0: "\(value / 1_000)e3"
        default: String(value)
        }
    }

    private static func generate(_ random: inout SeededRandom) -> Generated {
        var axes: [(String, [String], [String])] = []
        func add(_ key: String, _ range: ClosedRange<Int>) {
            let values = Array(
                Set((0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: range, using: &random) }))
            if Bool.random(using: &random) {
                axes.append((key, values.map { spelt($0, &random) }, values.map(String.init)))
            }
        }
        add("dataset.items", 1_000...900_000)
        add("observers.count", 1...400)
        add("observers.threads", 1...8)
        add("writers.rows_per_commit", 1...999)
        if Bool.random(using: &random) { axes.append(("server.standby", ["0s", "0.1ms"], ["0s", "100us"])) }
        let repetitions = Int.random(in: 1...4, using: &random)
        let queue = Bool.random(using: &random)
        let sweep = axes.map { "  \($0.0): [\($0.1.joined(separator: ", "))]\n" }.joined()
        let keys = [
            "purpose: A question?\n", "represents: \"a complaint\"\n", "dataset: { items: 2_000 }\n",
            "observers: { deliver: \(queue ? "queue" : "run-loop") }\n", "writers: { rate: 1_000/s }\n",
            "measure: [staleness]\n", "gate: staleness\n", "duration: 10ms\n", "repeat: \(repetitions)\n",
            sweep.isEmpty ? "# no sweep\n" : "sweep:\n\(sweep)",
        ]
        return Generated(
            text: keys.shuffled(using: &random).joined(), axes: axes, repetitions: repetitions, queue: queue)
    }

    @Test func whatWasWrittenIsWhatIsRead() throws {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            let generated = Self.generate(&random)
            let comment: Comment = "seed \(seed):\n\(generated.text)"
            let scenario = try parse(generated.text)
            let points = try scenario.points(profile: .full)
            #expect(points.count == generated.axes.reduce(1) { $0 * $1.values.count }, comment)

            // Every combination of one value per axis, with sorted keys, is a variant, and there is no other.
            var model: Set<[String]> = [[]]
            for axis in generated.axes {
                model = Set(model.flatMap { point in axis.values.map { point + ["\(axis.key)=\($0)"] } })
            }
            #expect(Set(points.map(\.variant)) == Set(model.map { $0.sorted().joined(separator: ";") }), comment)
            #expect(points.allSatisfy { ($0.spec.observers.deliver == .queue) == generated.queue }, comment)
            for point in points {
                let values = Dictionary(
                    uniqueKeysWithValues: point.variant.split(separator: ";").map {
                        let sides = $0.split(separator: "=")
                        return (String(sides[0]), String(sides[1]))
                    })
                #expect(point.spec.dataset.items == Int(values["dataset.items"] ?? "2000"), comment)
                #expect(point.spec.observers.count == Int(values["observers.count"] ?? "1"), comment)
                #expect(point.spec.writers.rowsPerCommit == Int(values["writers.rows_per_commit"] ?? "1"), comment)
            }

            let trials = try scenario.trials(profile: .full, drivers: testDrivers)
            #expect(trials.count == points.count * generated.repetitions * testDrivers.count, comment)
            let names = trials.map { "\($0.driver) \($0.variant) \($0.trial)" }
            #expect(Set(names).count == trials.count, comment)
            #expect(try parse(generated.text).trials(profile: .full, drivers: testDrivers) == trials, comment)
        }
    }
}
