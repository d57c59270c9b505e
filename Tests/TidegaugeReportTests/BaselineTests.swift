// Tests of the data kept of a run, and of the figures called worse by it.
import Foundation
import Testing
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeReport

@Suite struct BaselineTests {
    private static let instructions = "result-size stillingwell dataset.items=1000 upkeep_instructions"

    /// Makes a run with rows of one scenario, whose gate is `upkeep_cost`.
    private func record(_ figures: [Figure], trial: Int = 0, noisy: Bool = false) -> RunRecord {
        var record = RunRecord(runID: "20260131T120000Z-1a2b3c4d", environment: .ofARun)
        record.environment.yardsticks = Dictionary(
            uniqueKeysWithValues: Yardstick.allCases.map { ($0, .fixed(1_000, 1_000)) })
        record.header = WholeRun.header
        add(figures, trial, noisy, to: &record)
        return record
    }

    private func add(_ figures: [Figure], _ trial: Int, _ noisy: Bool = false, to record: inout RunRecord) {
        let flags = noisy ? [FigureFlag.noisy(reason: "steal=9.0%")] : []
        record.rows += (figures + [Figure(.trialOutcome, .value, 0, n: 1, flags: flags)]).map {
            Fixture.row($0, scenario: "result-size", variant: "dataset.items=1000", trial: trial)
        }
    }

    private func counted(_ value: Double, _ counter: InstructionCounter = .callgrind) -> Figure {
        Figure(.upkeepInstructions, .value, value, n: 100, flags: [.counted(by: counter)])
    }

    private func compared(_ now: RunRecord, since then: RunRecord) -> BaselineComparison {
        BaselineComparison(RunBaseline(now), since: RunBaseline(then), name: "last")
    }

    @Test func aCountIsWorseFromItsThresholdOn() {
        let then = record([counted(112_000)])
        let same = compared(record([counted(113_000)]), since: then)
        #expect(same.details == [])
        #expect(
            same.summary == ["baseline 'last' (20260131T120000Z-1a2b3c4d): 0 of 1 count worse, 0 of 0 clocks slower"])
        let more = compared(record([counted(124_000)]), since: then)
        #expect(
            more.details == [
                "worse than 'last': \(Self.instructions): 112k → 124k instructions/commit (+10.7 %)"
            ])
        #expect(more.summary[0].contains("1 of 1 count worse (`tidegauge compare` tests"))
        #expect(compared(record([counted(90_000)]), since: then).details == [])
    }

    @Test func whatWasCountedOtherwiseIsNotCompared() {
        var then = RunBaseline(record([counted(112_000)]))
        then.origin.countMethod = nil
        let comparison = BaselineComparison(
            RunBaseline(record([counted(124_000)])), since: .baseline(then), name: "last")
        #expect(comparison.details == [])
        #expect(comparison.summary[0].contains("instructions counted by callgrind, method 1, and this run with"))
    }

    @Test func ofSeveralTrialsEveryOneHasToBeWorse() {
        func run(_ values: [Double]) -> RunRecord {
            var record = record([])
            for (trial, bytes) in values.enumerated() {
                add([Figure(.writerBytes, .value, bytes, n: 9)], trial, to: &record)
            }
            return record
        }
        let then = run([1_000, 1_040])
        #expect(compared(run([1_045, 1_200]), since: then).details == [], "by half a per cent")
        #expect(compared(run([1_060, 1_200]), since: then).details.count == 1)
    }

    @Test func clocksAreAdviceOfGatesAndOfQuietTrials() {
        func run(_ ns: Double, noisy: Bool = false) -> RunRecord {
            record(
                [Figure(.upkeepCost, .value, ns, n: 9), Figure(.writeServiceTime, .p50, ns, n: 9)], noisy: noisy)
        }
        let then = run(10_000)
        #expect(compared(run(12_400), since: then).details == [], "under a quarter")
        let slower = compared(run(12_600), since: then)
        #expect(
            slower.details == [
                "slower than 'last', as advice: result-size stillingwell dataset.items=1000 upkeep_cost: "
                    + "10.0 µs → 12.6 µs (+26.0 %)"
            ])
        #expect(slower.summary[0].hasSuffix("0 of 0 counts worse, 1 of 1 clocks slower"))
        #expect(compared(run(99_000, noisy: true), since: then).details == [])
    }

    @Test func clocksOfAMachineThatChangedAreNotCompared() {
        func run(_ factor: Double) -> RunRecord {
            // Allocations of upkeep depend on the number of commits that it processes in one step.
            record([
                Figure(.upkeepCost, .value, 9_000 * factor, n: 9), counted(1_000 * factor),
                Figure(.upkeepAllocations, .value, 20 * factor, n: 9),
            ])
        }
        let then = run(1)
        var now = run(2)
        #expect(compared(now, since: then).details.count == 3)
        now.environment.yardsticks?[.twoWakes] = .fixed(2_000, 2_100)
        let slow = compared(now, since: then)
        #expect(slow.details.count == 1 && slow.details[0].contains("1.00k → 2.00k instructions/commit (+100 %)"))
        #expect(
            slow.summary[0].hasSuffix(
                "clocks and what depends on them not compared: the machine has changed: two_wakes took 1.00 µs, and takes 2.05 µs"
            ))
        now.environment.yardsticks?[.rawCommit] = .fixed(1_000, 2_000)
        #expect(
            compared(now, since: then).summary[0].hasSuffix(
                "clocks and what depends on them not compared: the yardstick raw_commit was not steady in both runs"))
    }

    @Test func runsThatCannotBeComparedSayWhy() {
        let then = record([counted(1_000)])
        func obstacle(_ change: (inout RunRecord) -> Void) -> String {
            var now = record([counted(2_000)])
            change(&now)
            let comparison = compared(now, since: then)
            #expect(comparison.details == [] && comparison.summary.count == 1)
            return comparison.summary[0]
        }
        let title = "baseline 'last' (20260131T120000Z-1a2b3c4d): not compared: it was made with "
        #expect(
            obstacle { $0.environment.cores = 4 } == title
                + "Some CPU, 2 cores, x86_64, and this run with Some CPU, 4 cores, x86_64")
        #expect(
            obstacle { $0.environment.buildConfiguration = "debug" } == title
                + "a release build, and this run with a debug build")
        #expect(
            obstacle { $0.header.profile = .full } == title
                + "--profile smoke --set repeat=2, and this run with --profile full --set repeat=2")
        #expect(
            obstacle { record in
                record.rows = self.record([self.counted(2_000, .hardware)]).rows
            } == title
                + "instructions counted by callgrind, method 2, and this run with instructions counted by hardware, method 2"
        )
    }

    @Test func aScenarioThatAsksSomethingElseIsLeftOut() {
        let then = record([counted(1_000)])
        var now = record([counted(2_000)])
        now.header.scenarios[0].sha = "another"
        let comparison = compared(now, since: then)
        #expect(comparison.details == [])
        #expect(comparison.summary.last == "not compared, because they have changed since: result-size")
    }

    @Test func oneOfAnotherVersionIsNotCompared() {
        let comparison = BaselineComparison(RunBaseline(record([])), since: .otherVersion(2), name: "last")
        #expect(
            comparison.summary == [
                "baseline 'last': not compared: its format has version 2, and this tidegauge's 1"
            ])
    }

    private func pages(_ record: RunRecord) throws -> [String] {
        [MarkdownSummary.render(record), try HTMLReport.render(record)]
    }

    @Test func pagesSayWhatIsWorseCountsFirst() throws {
        let then = record([counted(1_000), Figure(.upkeepCost, .value, 10_000, n: 9)])
        var now = record([counted(2_000), Figure(.upkeepCost, .value, 90_000, n: 9)])
        for page in try pages(now) { #expect(!page.contains("Since baseline last") && !page.contains("id=\"since\"")) }
        now.compared = compared(now, since: then)
        for page in try pages(now) {
            #expect(page.contains("Since baseline last (20260131T120000Z-1a2b3c4d)"))
            let count = try #require(page.range(of: "+100 %"))
            let clock = try #require(page.range(of: "+800 %"))
            #expect(count.lowerBound < clock.lowerBound && page[count.upperBound...].contains("slower, as advice"))
        }
    }

    @Test func pagesSayInALineThatNothingIsWorse() throws {
        let then = record([counted(1_000), Figure(.upkeepCost, .value, 10_000, n: 9)])
        var now = then
        now.compared = compared(now, since: then)
        for page in try pages(now) {
            #expect(page.contains("nothing became worse: 0 of 1 count worse, 0 of 1 clocks slower"))
            #expect(!page.contains("+100 %") && !page.contains("this run"))
        }
        now.environment.cores = 4
        now.compared = compared(now, since: then)
        for page in try pages(now) {
            #expect(page.contains("not compared: ") && !page.contains("nothing became worse"))
        }
    }

    @Test func aSummaryCountsWhatItHasNoRoomForAndThePageHasAll() throws {
        var now = record([])
        let change = BaselineComparison.Change(what: "a", metric: .writerBytes, then: 1_000, now: 2_000)
        now.compared = BaselineComparison(
            name: "last", counts: 12, worse: Array(repeating: change, count: 12))
        let pages = try pages(now).map { $0.components(separatedBy: "+100 %").count - 1 }
        #expect(pages == [10, 12])
        #expect(MarkdownSummary.render(now).contains("\nand 2 more in report.html\n"))
    }

    @Test func whatIsKeptIsReadAgain() throws {
        try Fixture.withFolder { root in
            #expect(try RunBaseline.read("last", in: root) == nil)
            let baseline = RunBaseline(record([counted(1_000), Figure(.missedFinal, .value, 0, n: 1)]))
            #expect(baseline.series.map(\.name.metric) == [.upkeepInstructions])
            try baseline.write("last", in: root)
            #expect(try RunBaseline.read("last", in: root) == .baseline(baseline))
            let path = RunBaseline.path("last", in: root)
            #expect(path == "\(root)/baselines/last.json")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try Data(text.replacing("\"version\":1", with: "\"version\":2").utf8).write(to: URL(fileURLWithPath: path))
            #expect(try RunBaseline.read("last", in: root) == .otherVersion(2))
            for damage in ["no baseline", "{\"version\":1}"] {
                try Data(damage.utf8).write(to: URL(fileURLWithPath: path))
                #expect(throws: DamagedReport.self) { try RunBaseline.read("last", in: root) }
            }
        }
    }

    @Test func namesAreFilesOfTheFolderAndNothingElse() {
        for name in ["last", "v1.2", "before_the-change"] { #expect(RunBaseline.objection(to: name) == nil) }
        for name in ["", ".", "../x", "a/b", ".hidden", "ä", "a b", String(repeating: "x", count: 101)] {
            #expect(RunBaseline.objection(to: name)?.contains("is no name of a baseline") == true, "\(name)")
        }
    }
}
