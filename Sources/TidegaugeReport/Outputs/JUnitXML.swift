// junit.xml for CI servers. A scenario on a driver is a test case. A broken limit, a violation or a hang is a failure;
// another trial that did not complete is an error. An undecided limit is skipped unless something is worse. Pure.
import TidegaugeMeasure
import TidegaugeStatistics
import TidegaugeTrial

enum JUnitXML {
    private struct Case {
        var scenario: String
        var driver: String
        /// Integer milliseconds, so that the times of cases add up to that of their suite.
        var milliseconds: Int
        /// Faults as element name, type and lines, worst first.
        var faults: [(element: String, type: String, lines: [String])]
        var figures: String
    }

    static func render(_ record: RunRecord) -> String {
        var cases = cases(record)
        // Trials of an incomplete run may be missing without a trace.
        if record.end == nil || record.end?.exitCode == 130 {
            let word = record.verdict.word
            cases.append(
                Case(
                    scenario: "run", driver: "run", milliseconds: 0, faults: [("error", "interrupted", [word])],
                    figures: "")
            )
        }
        func count(_ element: String) -> Int { cases.count { $0.faults.first?.element == element } }
        let sums = """
            tests="\(cases.count)" failures="\(count("failure"))" errors="\(count("error"))" \
            skipped="\(count("skipped"))" time="\(seconds(cases.reduce(0) { $0 + $1.milliseconds }))"
            """
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="tidegauge" \(sums)>
            <testsuite name="tidegauge" \(sums)>
            <properties>
            <property name="run_id" value="\(Escaped.xml(record.runID))"/>
            <property name="commit" value="\(Escaped.xml(record.environment.commit))"/>
            <property name="profile" value="\(record.header.profile.rawValue)"/>
            </properties>

            """
        for testCase in cases { text += element(testCase) }
        return text + "</testsuite>\n</testsuites>\n"
    }

    private static func element(_ testCase: Case) -> String {
        var text =
            "<testcase classname=\"tidegauge.\(Escaped.xml(testCase.driver))\" name=\"\(Escaped.xml(testCase.scenario))\""
            + " time=\"\(seconds(testCase.milliseconds))\">\n"
        // A case can have only one outcome. Others are added to its text.
        if let worst = testCase.faults.first {
            let lines = testCase.faults.flatMap(\.lines)
            text += "<\(worst.element) message=\"\(Escaped.xml(worst.lines.first ?? worst.type))\""
            if worst.element != "skipped" { text += " type=\"\(worst.type)\"" }
            text += ">\(Escaped.xml(lines.joined(separator: "\n"), keepingLines: true))</\(worst.element)>\n"
        }
        if !testCase.figures.isEmpty {
            text += "<system-out>\(Escaped.xml(testCase.figures, keepingLines: true))</system-out>\n"
        }
        return text + "</testcase>\n"
    }

    private static func cases(_ record: RunRecord) -> [Case] {
        record.scenarioNames.flatMap { scenario -> [Case] in
            let trials = record.trials.filter { $0.spec.scenario == scenario }
            let skipped = record.skipped.filter { $0.scenario == scenario }
            return Digest.inOrder(trials.map(\.spec.driver) + skipped.map(\.driver)).map { driver in
                let own = trials.filter { $0.spec.driver == driver }
                let judged = record.judgements.filter { $0.scenario == scenario && $0.driver == driver }
                var faults = faults(own, judged)
                if own.isEmpty { faults.append(("skipped", "", skipped.filter { $0.driver == driver }.map(\.reason))) }
                let rows = record.rows.filter { $0.scenario == scenario && $0.driver == driver }
                return Case(
                    scenario: scenario, driver: driver,
                    milliseconds: own.reduce(0) { $0 + milliseconds($1, rows) },
                    faults: faults, figures: rows.isEmpty ? "" : ConsoleSummary.render(rows, gates: record.gates))
            }
        }
    }

    private static func faults(
        _ trials: [TrialRecord], _ judged: [Judgement]
    ) -> [(element: String, type: String, lines: [String])] {
        func lines(_ trials: [TrialRecord]) -> [String] {
            trials.flatMap { trial in
                [
                    "\(trial.spec.variant.isEmpty ? "" : trial.spec.variant + " ")trial \(trial.spec.trial): "
                        + (trial.fate.flag?.text ?? "")
                ] + trial.notes + trial.violations
            }
        }
        func those(_ isMeant: (TrialFate) -> Bool) -> [TrialRecord] { trials.filter { isMeant($0.fate) } }
        func limits(_ verdict: Judgement.Verdict) -> [String] {
            judged.filter { $0.verdict == verdict }.map { "limit \(verdict.rawValue): \($0.text)" }
        }
        let failed = those {
            switch $0 {
            case .crashed, .killed, .harnessFault: true
            case .completed, .hang, .oracleViolation, .interrupted: false
            }
        }
        return [
            ("failure", "oracle_violation", lines(those { $0 == .oracleViolation })),
            ("failure", "hang", lines(those { $0 == .hang })),
            ("failure", "limit_broken", limits(.broken)),
            ("error", "trial_failed", lines(failed)),
            ("error", "interrupted", lines(those { $0 == .interrupted })),
            ("skipped", "limit_unknown", limits(.unknown)),
        ].filter { !$0.2.isEmpty }
    }

    /// Measured time of a trial: warm-up and window, or the duration of an interleaving test or of the detection of its
    /// hang. 0 for a counted trial, which counts instructions instead of measuring times.
    private static func milliseconds(_ trial: TrialRecord, _ rows: [RunRow]) -> Int {
        if trial.spec.count != nil { return 0 }
        guard trial.spec.interleaving != nil else {
            return max(0, Int(nearest: (Double(trial.spec.warmUpNs) + Double(trial.spec.durationNs)) / 1e6))
        }
        let own = rows.filter { TrialKey($0) == trial.key }.map(\.figure)
        let played = own.first { [.interleavingTestTime, .hangDetectionTime].contains($0.metric) && $0.value != nil }
        return max(0, Int(nearest: (played?.value ?? 0) / 1e6))
    }

    private static func seconds(_ milliseconds: Int) -> String {
        let rest = "\(milliseconds % 1000)"
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
