// Tests of the reports of a comparison by counts alone.
import Foundation
import Testing
import TidegaugeCompare
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("The report of a comparison by counts only")
struct CountedOnlyReportTests {
    private static let names = ["summary.md", "compare.html", "compare.json", "annotations.txt", "effects.csv"]

    /// - Parameter heads: instructions per commit of each head; those of the base are 50,000. nil: not counted.
    func report(
        _ root: String, heads: [Double?]
    ) throws -> (judged: JudgedComparison, texts: [String: String]) {
        var plan = WholeComparison.plan
        plan.pairs = 0
        let report = try ComparisonReport(root, plan, .fixed)
        var record = ComparisonRecord(plan, .fixed)
        for (subject, head) in zip(plan.subjects, heads) {
            guard let head else { continue }
            let row = CountedRow(
                scenario: subject.scenario, driver: subject.driver, variant: subject.points[0].variant,
                metric: .upkeepInstructions, counter: "callgrind", base: 50_000, again: 50_010, head: head)
            try report.add([row], files: [:])
            record.counted.append(row)
        }
        record.uncounted = heads.contains(nil) ? [OneSided(what: "slow, counted", why: "hang")] : []
        try report.add(uncounted: record.uncounted)
        record.isFinished = true
        try report.end(JudgedComparison(record, record.replayed()), exitCode: 0)
        let texts = try Self.names.map { ($0, try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8)) }
        return (try JudgedComparison(root), Dictionary(uniqueKeysWithValues: texts))
    }

    @Test("Gates of clocks are named once, as not measured, and none of them is inconclusive")
    func unmeasured() throws {
        try Fixture.withFolder { root in
            let (judged, texts) = try report(root, heads: [50_000, 50_100])
            #expect(judged.outcome.word == .pass && judged.gates.isEmpty && judged.rows.isEmpty)
            let console = ComparisonConsole.render(judged)
            #expect(
                console.contains(
                    "not measured, because only counts were requested: 2 gates of clocks: slow stillingwell,"))
            #expect(console.hasSuffix("no regression in what was counted\n"))
            let readers = [console, texts["summary.md"]!, texts["compare.html"]!]
            for text in readers {
                #expect(text.components(separatedBy: "not measured").count == 2)
                #expect(!text.contains("inconclusive") && text.contains("counts do not show waiting"))
            }
            #expect(texts["summary.md"]!.contains(", counts alone, profile smoke."))
            #expect(!texts["summary.md"]!.contains("<script>") && !texts["compare.html"]!.contains("<script>"))
            #expect(!texts["compare.html"]!.contains("detectable") && texts["compare.html"]!.contains("compare.json"))
            #expect(texts["annotations.txt"]!.isEmpty)
            #expect(texts["effects.csv"]!.split(separator: "\n").count == 1)
            let json = try JSONSerialization.jsonObject(with: Data(texts["compare.json"]!.utf8)) as? [String: Any]
            #expect((json?["unmeasured"] as? [String])?.first == "slow stillingwell")
            let counted = json?["counted"] as? [[String: Any]]
            #expect(counted?.map { $0["verdict"] as? String } == ["unchanged", "unchanged"])
            #expect(abs((counted?[1]["change"] as? Double ?? 0) - 0.002) < 1e-9)
            #expect(counted?[1]["base"] as? Double == 50_000)
            #expect((json?["rows"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("A counted regression is in the verdict and beside the checks")
    func regressed() throws {
        try Fixture.withFolder { root in
            let (judged, texts) = try report(root, heads: [51_000, 50_000])
            #expect(judged.outcome.word == .regressed)
            #expect(
                ComparisonConsole.verdict(judged).hasPrefix("regressed: slow stillingwell durability=memory upkeep_"))
            #expect(
                texts["annotations.txt"]!.hasPrefix(
                    "::error title=Tidegauge: regressed::slow stillingwell durability=memory upkeep_instructions: "
                        + "50.0k → 51.0k, +2.0 %25, counted"))
        }
    }

    @Test("Counts that regressed come before those that improved, with the noise beside them")
    func order() throws {
        try Fixture.withFolder { root in
            let (judged, texts) = try report(root, heads: [49_000, 51_000])
            for text in [ComparisonConsole.render(judged), texts["summary.md"]!, texts["compare.html"]!] {
                let regressed = try #require(text.range(of: "+2.0 %"))
                let improved = try #require(text.range(of: "-2.0 %"))
                #expect(regressed.lowerBound < improved.lowerBound)
                #expect(text.contains("lower is better"))
                #expect(text.contains("noise: two counts of the base differ by 0.02 %"))
            }
        }
    }

    @Test("A gate that could not be counted leaves the outcome undecided, with the reason")
    func undecided() throws {
        try Fixture.withFolder { root in
            let (judged, texts) = try report(root, heads: [nil, 50_000])
            #expect(judged.outcome.word == .inconclusive)
            let verdict = ComparisonConsole.verdict(judged)
            #expect(
                verdict.hasSuffix("not decided: slow stillingwell durability=memory, not counted"), "\(verdict)")
            #expect(ComparisonConsole.render(judged).contains("not compared: slow, counted: hang"))
            for name in ["summary.md", "compare.html", "compare.json"] {
                #expect(texts[name]!.contains("hang"), "\(name)")
            }
        }
    }

    @Test("If nothing was counted, nothing could be compared")
    func nothing() throws {
        try Fixture.withFolder { root in
            let (judged, texts) = try report(root, heads: [nil, nil])
            #expect(judged.outcome.word == .inconclusive)
            #expect(ComparisonConsole.verdict(judged) == "inconclusive: nothing could be compared")
            #expect(texts["summary.md"]!.contains("not measured"))
        }
    }
}
