// Tests of the eight answers of a run from its rows, and of its further findings.
import Testing
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeReport

@Suite("Answers of a run")
struct AnswersTests {
    /// Makes a run in which each question that figures answer has a scenario.
    private static func record() -> RunRecord {
        var record = RunRecord(runID: "r", environment: .fixed)
        record.header.scenarios = WholeRun.header.scenarios
        for (name, answers) in [("commit-latency", [SummaryQuestion.latency]), ("burst-coalesce", [.coalescing])] {
            var scenario = record.header.scenarios[0]
            (scenario.name, scenario.gate, scenario.answers) = (name, .staleness, answers)
            record.header.scenarios.append(scenario)
        }
        func add(_ scenario: String, _ variant: String, _ figures: [Figure], _ change: (inout TrialSpec) -> Void) {
            var spec = WholeRun.spec(scenario, "stillingwell", variant)
            change(&spec)
            record.rows += RunRow.rows(figures, of: spec, runID: "r", environment: .fixed)
            guard variant != RunRow.overSweep else { return }
            record.trials.append(TrialRecord(TrialResult(fate: .completed), of: spec))
        }
        add(
            "commit-latency", "durability=memory",
            [
                Figure(.endToEndLatency, .p50, 131_000, n: 1_500), Figure(.endToEndLatency, .p99, nil, n: 500),
                Figure(.endToEndLatency, .p90, 366_000, n: 500), Figure(.coalescingRatio, .value, 1.03, n: 500),
            ]
        ) {
            ($0.writers.load, $0.writers.rateHz, $0.dataset.items) = (.open, 500, 10_000)
            $0.writers.arrivals = .poisson
        }
        for (burst, ratio, staleNs) in [(1, 1.0, 31_400.0), (100, 4.5, 84_500)] {
            add(
                "burst-coalesce", "writers.burst=\(burst)",
                [Figure(.coalescingRatio, .value, ratio, n: 500), Figure(.staleness, .p99, staleNs, n: 5_000)]
            ) {
                ($0.writers.load, $0.writers.rateHz, $0.writers.arrivals) = (.open, 5_000, .bursts)
                $0.writers.burst = burst
            }
        }
        for (items, cost) in [(1_000_000, 18_200.0), (1_000, 16_200)] {
            add("result-size", "dataset.items=\(items)", [Figure(.upkeepCost, .value, cost, n: 500)]) {
                $0.dataset.items = items
            }
        }
        add("result-size", RunRow.overSweep, [Figure(.upkeepExponent, .value, 0.012, n: 2)]) { _ in }
        add(
            "rate-sweep", RunRow.overSweep,
            [
                Figure(.sustainableRate, .low, 60_000, n: 7), Figure(.sustainableRate, .high, 104_000, n: 7),
                Figure(.kneeRate, .value, 39_500, n: 7),
            ]
        ) { _ in }
        return record
    }

    private func answer(_ question: Answer.Question, _ record: RunRecord) throws -> Answer {
        try #require(Answers(record).all.first { $0.question == question })
    }

    @Test(
        "Each question has its number, its meaning and its scenario",
        arguments: [
            (
                .howFast, "131 µs", "median · p90 366 µs · scheduled time to callback, 500 commits/s, 10,000 rows",
                "commit-latency"
            ),
            (.howStale, "31.4 µs … 84.5 µs", "p99 over time: lowest and highest of 2 points", "burst-coalesce"),
            (.coalesced, "4.50×", "highest of 2 points, in bursts of 100, ", "burst-coalesce"),
            (.coalesced, "4.50×", "; 1.03× in commit-latency", "burst-coalesce"),
            (
                .upkeep, "18.2 µs", "at 1,000,000 rows; 16.2 µs at 1,000 → incremental (exponent β 0.012)",
                "result-size"
            ),
            (.bendsWhere, "60.0k – 104k/s", "merge at 39.5k/s", "rate-sweep"),
        ] as [(Answer.Question, String, String, String)])
    func measured(question: Answer.Question, figure: String, meaning: String, scenario: String) throws {
        let answer = try answer(question, Self.record())
        #expect(answer.figure == figure)
        #expect(answer.meaning.contains(meaning), "\(answer.meaning)")
        #expect(answer.source == .scenario(scenario) && answer.tone == .good)
    }

    @Test("The scenario that says so answers a question, else one whose gate is the metric, else the first")
    func answering() throws {
        var record = Self.record()
        let gated = try #require(record.header.scenarios.firstIndex { $0.name == "burst-coalesce" })
        let first = try #require(record.header.scenarios.firstIndex { $0.name == "commit-latency" })
        record.header.scenarios[gated].gate = .coalescingRatio
        record.header.scenarios[gated].answers = nil
        #expect(try answer(.coalesced, record).source == .scenario("burst-coalesce"))
        record.header.scenarios[first].answers = [.coalescing]
        #expect(try answer(.coalesced, record).source == .scenario("commit-latency"))
        (record.header.scenarios[gated].gate, record.header.scenarios[first].answers) = (.staleness, nil)
        #expect(try answer(.coalesced, record).source == .scenario("commit-latency"))
    }

    @Test("A run without figures has all eight questions, all of them open")
    func empty() {
        let answers = Answers(RunRecord(runID: "r", environment: .fixed)).all
        #expect(answers.map(\.question) == Answer.Question.allCases)
        #expect(answers.allSatisfy { $0.tone == .open && !$0.meaning.isEmpty })
        #expect(answers.allSatisfy { $0.figure == Answer.none })
    }

    @Test("A metric that was measured without a value is not called unmeasured")
    func absent() throws {
        var record = Self.record()
        record.rows.removeAll { $0.scenario == "commit-latency" }
        record.trials[0].spec.measure = ["end_to_end_latency", "coalescing_ratio"]
        record.rows += RunRow.rows(
            [Figure(.endToEndLatency, .p50, nil, n: 12)], of: record.trials[0].spec, runID: "r", environment: .fixed)
        #expect(
            try answer(.howFast, record).meaning
                == "end_to_end_latency had 12 samples in commit-latency, and p50 needs 20")
        var failed = record
        for index in failed.trials.indices { failed.trials[index].fate = .hang }
        #expect(
            try answer(.howFast, failed).meaning
                == "1 trial that should have measured end_to_end_latency did not complete")
        failed.trials[0].spec.measure = []
        #expect(try answer(.howFast, failed).meaning == "no scenario measures end_to_end_latency")
        var passing = record
        passing.trials[0].spec.workload = WorkloadSpec()
        #expect(try answer(.howFast, passing).meaning.hasPrefix("no query of the trace of commit-latency is observed"))
        var unpaired = record
        unpaired.rows.removeAll { $0.figure.metric == .upkeepCost }
        unpaired.trials[0].spec.measure = ["upkeep_cost"]
        unpaired.rows += RunRow.rows(
            [Figure(.upkeepCost, .value, nil, n: 0, flags: [.noBaseline])], of: record.trials[0].spec, runID: "r",
            environment: .fixed)
        #expect(try answer(.upkeep, unpaired).meaning == "upkeep_cost has no value in commit-latency: no_baseline")
    }

    @Test(
        "A slow rate is shown with up to three digits",
        arguments: [(0.4, "0.400 commits/s"), (2.5, "2.50 commits/s"), (3, "3 commits/s")])
    func slowRates(rateHz: Double, words: String) throws {
        var record = Self.record()
        record.trials[0].spec.writers.rateHz = rateHz
        let meaning = try answer(.howFast, record).meaning
        #expect(meaning.contains(", \(words), "), "\(meaning)")
    }

    @Test("Others are compared with the first driver that was named")
    func firstNamed() throws {
        var record = Self.record()
        record.header.scenarios[0].name = "commit-latency"
        record.header.scenarios[0].gate = .endToEndLatency
        let rows = record.rows.filter { $0.scenario == "commit-latency" }
        for row in rows {
            var other = row
            other.driver = "keel"
            record.rows.append(other)
        }
        var trial = record.trials[0]
        trial.spec.driver = "keel"
        record.trials.append(trial)
        #expect(EngineRatios.all(record).map(\.engine) == ["stillingwell"])
        record.header.drivers = ["keel", "stillingwell"]
        #expect(EngineRatios.all(record).map(\.engine) == ["keel"])
        // An engine that `--driver` names by a file.
        (record.header.drivers, record.header.engines) = (["./keel.yaml", "stillingwell"], ["./keel.yaml": "keel"])
        #expect(EngineRatios.all(record).map(\.engine) == ["keel"])
        #expect(EngineRatios.all(record).first?.lines.first?.hasPrefix("stillingwell against keel: ") ?? false)
    }

    @Test("With several drivers the driver of the answers is named, on the terminal, the page and in the summary")
    func ofOneDriver() throws {
        var record = Self.record()
        #expect(Answers(record).about == nil)
        var trial = record.trials[0]
        trial.spec.driver = "keel"
        record.trials.append(trial)
        let whole = "'Lost or wrong?', 'Hung?' and 'Worse than last time?' are about all 2 drivers."
        #expect(Answers(record).about == "Answers for stillingwell, the driver with the most trials; \(whole)")
        record.header.drivers = ["keel", "stillingwell"]
        let about = "Answers for keel, the first driver; \(whole)"
        #expect(AnswersText.console(record).first == about)
        #expect(AnswersText.markdown(record).hasPrefix(Escaped.markdown(about)))
        #expect(try HTMLReport.render(record).contains(Escaped.visible(about).replacing("'", with: "&#39;")))
    }

    @Test("Costs at several points with one number of rows are a range")
    func upkeepOfObservers() throws {
        var record = Self.record()
        record.rows.removeAll { $0.figure.metric == .upkeepCost || $0.figure.metric == .upkeepExponent }
        for (count, cost) in [(1, 130_000.0), (200, 217_000)] {
            var spec = WholeRun.spec("observers", "stillingwell", "observers.count=\(count)")
            (spec.dataset.items, spec.observers.count) = (1_000, count)
            record.trials.append(TrialRecord(TrialResult(fate: .completed), of: spec))
            record.rows += RunRow.rows(
                [Figure(.upkeepCost, .value, cost, n: 500)], of: spec, runID: "r", environment: .fixed)
        }
        let answer = try answer(.upkeep, record)
        #expect(answer.figure == "130 µs … 217 µs" && answer.value == 217_000)
        #expect(answer.meaning == "CPU per commit at 1,000 rows, lowest and highest of 2 points")
    }

    @Test("A broken limit is part of the answer, and metrics of the harness answer no question")
    func broken() throws {
        var record = Self.record()
        record.judgements = [
            Judgement(
                scenario: "commit-latency", driver: "stillingwell", verdict: .broken, text: "stillingwell: too slow")
        ]
        #expect(try answer(.howFast, record).tone == .bad && answer(.upkeep, record).tone == .good)
        record.header.scenarios[0].name = "rate-sweep"
        record.header.scenarios[0].gate = .slowdownSeen
        #expect(try answer(.bendsWhere, record).figure == Answer.none)
    }

    @Test("A state that never arrived and a promise that broke are counted; a trial that did not complete is no answer")
    func lost() throws {
        var record = Self.record()
        #expect(try answer(.lostOrWrong, record).figure == "0" && answer(.lostOrWrong, record).tone == .good)
        record.rows += [Fixture.row(Figure(.missedFinal, .value, 2, n: 3))]
        record.rows += [Fixture.row(Figure(.oracleViolations, .value, 1, n: 3))]
        #expect(try answer(.lostOrWrong, record).figure == "3" && answer(.lostOrWrong, record).tone == .bad)
        record = Self.record()
        record.trials[0].fate = .crashed(signal: "SIGSEGV")
        let crashed = try answer(.lostOrWrong, record)
        #expect(crashed.figure == "0" && crashed.tone == .bad && crashed.meaning.contains("1 trial did not complete"))
    }

    @Test("An expected and detected hang is a result; any other hang is not")
    func hangs() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            var record = try RunRecord.load("\(root)/\(WholeRun.runID)")
            let plays = InterleavingTests(record)
            #expect(plays.engines == ["stillingwell"] && plays.rows.map(\.scenario) == ["lock-order"])
            #expect(plays.rows[0].outcomes == [.completed(ns: 9_610_000)])
            #expect(plays.rows[0].controls == [.init(driver: "flawed", outcome: .caught(ns: 9_610_000))])
            #expect(try answer(.hung, record).tone == .good)
            let ended = record.trials.count { $0.fate == .completed }
            #expect(
                try answer(.hung, record).meaning
                    == "1 of 1 interleaving tests completed by stillingwell; 1 of 1 known-bad controls caught; "
                    + "0 of \(ended) trials hung unexpectedly")
            let index = try #require(record.trials.firstIndex { $0.spec.driver == "flawed" })
            record.trials[index].fate = .hang
            #expect(try answer(.hung, record).figure == "1" && answer(.hung, record).tone == .bad)
        }
    }

    @Test("Hangs are counted of the trials that ran to their end, and without such a trial nothing is known of them")
    func watched() throws {
        var record = Self.record()
        let all = record.trials.count
        record.trials[0].fate = .crashed(signal: "SIGSEGV")
        record.trials[0].hangs = [HangRecord(.crash, sentence: "SIGSEGV")]
        var hung = try answer(.hung, record)
        #expect(hung.figure == "0" && hung.tone == .good)
        #expect(hung.meaning == "0 of \(all - 1) trials hung; no interleaving test was run")
        record.trials[1].hangs = [HangRecord(.stall, sentence: "nothing moves")]
        hung = try answer(.hung, record)
        #expect(hung.figure == "1" && hung.tone == .bad && hung.meaning.hasPrefix("1 of \(all - 1) trials hung; "))
        record.trials.removeLast(all - 1)
        hung = try answer(.hung, record)
        #expect(hung.figure == Answer.none && hung.tone == .open)
        #expect(hung.meaning == "no trial ran to its end; no interleaving test was run")
    }

    @Test("A store that has to stop itself in one interleaving test is named as an engine all the same")
    func engineThatIsAControl() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            var record = try RunRecord.load("\(root)/\(WholeRun.runID)")
            var trial = try #require(
                record.trials.first { $0.spec.driver == "stillingwell" && $0.spec.interleaving != nil })
            trial.spec.scenario = "stops-itself"
            trial.spec.interleaving?.endings = ["stillingwell": .trap]
            record.trials.append(trial)
            let summary = MarkdownSummary.render(record)
            #expect(
                summary.contains(" scenarios on stillingwell, noop, 1 known-bad control, "), "\(summary.prefix(300))")
        }
    }

    @Test("A baseline's counts are the last answer, and why nothing is compared is one too")
    func worse() throws {
        var record = Self.record()
        #expect(
            try answer(.worse, record).meaning
                == "Not compared with an earlier run. Add '--save-baseline last' now, and '--baseline last' next time.")
        record.header.savedBaseline = "mine"
        #expect(
            try answer(.worse, record).meaning == "Not compared with an earlier run. Next time add '--baseline mine'.")
        (record.header.baseline, record.header.savedBaseline) = ("last", "last")
        #expect(try answer(.worse, record).meaning.contains("No baseline yet"))
        record.compared = WholeRun.compared
        #expect(try answer(.worse, record).figure == "1" && answer(.worse, record).tone == .bad)
        #expect(try answer(.worse, record).meaning.contains("1 of 2 clocks slower"))
        record.compared?.obstacle = "it was made elsewhere"
        #expect(try answer(.worse, record).figure == Answer.none)
    }

    @Test("Broken limits come before slowdowns, the worst first, each with its share")
    func findings() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let findings = Finding.all(try RunRecord.load("\(root)/\(WholeRun.runID)"))
            #expect(findings.map(\.kind) == [.failed, .broken, .worse, .slower, .open])
            #expect(findings[1].here == "812 µs" && findings[1].bound == "< 500 µs")
            #expect(abs(try #require(findings[1].share) - 0.624) < 1e-9)
            #expect(findings[3].scenario == "result-size" && findings[3].bound == "20.0 µs")
        }
    }

    @Test("A negative cost is shown as noise, and a negative latency as a value")
    func negative() {
        let cost = Figure(.upkeepCost, .value, -4_270_000, n: 20, flags: [.atFloor])
        #expect(Digest.headline([cost]) == "not measurable, noise ± 4.27 ms")
        #expect(Digest.headline([Figure(.deliveryLatency, .p50, -500, n: 20)]) == "-500 ns")
        #expect(Digest.headline([Figure(.upkeepCost, .value, 500, n: 20)]) == "500 ns")
    }
}
