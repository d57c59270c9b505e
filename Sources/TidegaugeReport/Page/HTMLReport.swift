// report.html: the whole run on a self-contained page without external fonts, images or libraries. The content is
// computed here and in the extensions; `Pages/report.html` is the template. Pure.
import Foundation
import TidegaugeSpec

enum HTMLReport {
    static func render(_ record: RunRecord) throws -> String {
        let hangs = hangs(record)
        var page = head(record)
        page.merge(findings(record)) { _, new in new }
        page.merge([
            "answers": answers(Answers(record), record), "about": about(Answers(record)), "state": state(record),
            "engines": engines(record), "standings": standings(record), "signs": signs(record),
            "plays": plays(record).map { [$0] } ?? [],
            "groups": groups(record), "scenarioCount": Humanised.count(listed(record).count, "scenario"),
            "definitions": definitions(record),
            "hasHangs": !hangs.isEmpty, "hangs": hangs,
            "hangTitle": hangTitle(record), "hangsOpen": hangs.contains { $0["tone"] as? String == "bad" },
            "problems": problems(record), "environment": environment(record),
        ]) { _, new in new }
        page["since"] = record.compared?.page
        return try HTMLPage.render("report", title: "Tidegauge \(Escaped.visible(record.runID))", page)
    }

    private static func head(_ record: RunRecord) -> [String: Any] {
        let verdict = record.verdict
        return [
            "run": Escaped.visible(record.runID), "verdict": verdict.word, "tone": verdict.isGood ? "good" : "bad",
            "subject": Escaped.visible(SubjectFigures(record).driver),
            "lead": Escaped.visible(lead(record)),
        ]
    }

    /// The first two sentences: the engine, what was measured of it, how often and where.
    private static func lead(_ record: RunRecord) -> String {
        let subject = SubjectFigures(record).driver
        let engines = Digest.inOrder(record.trials.filter { $0.spec.interleaving == nil }.map(\.spec.driver))
        let others = engines.filter { $0 != subject && !record.header.isEmpty($0) }
        let last = others.last.map { others.count == 1 ? $0 : "\(others.dropLast().joined(separator: ", ")) and \($0)" }
        let beside = last.map { ", beside \($0)" } ?? ""
        let engine = (subject.isEmpty ? "no driver" : subject) + beside
        let what =
            record.header.counter.map { "Counted by \($0.rawValue): instructions per commit of \(engine)" }
            ?? "Measured: how fast and at what cost \(engine)\(others.isEmpty ? "" : ",") tells observers about commits"
        let commit = "\(record.environment.commit.prefix(8))\(record.environment.dirty ? " with changes" : "")"
        return "\(what). Commit \(commit), "
            + "\(Humanised.count(record.trials.count, "trial")) of "
            + "\(Humanised.count(record.scenarioNames.count, "scenario")), profile \(record.header.profile.rawValue), on "
            + "\(MachineState(record).facts.joined(separator: ", "))."
    }

    static func environment(_ record: RunRecord) -> [[String: Any]] {
        EnvironmentLines.lines(record).map { ["name": $0.name, "value": Escaped.visible($0.value)] }
    }

    static func state(_ record: RunRecord) -> [String: Any] {
        let state = MachineState(record)
        return [
            "tone": state.disturbances.isEmpty ? "" : "noisy", "text": Escaped.visible(state.sentence),
            "limits": Escaped.visible(state.limits.map { "\($0)." } ?? ""),
        ]
    }

    // MARK: The first screen

    static func answers(_ answers: Answers, _ record: RunRecord) -> [[String: Any]] {
        answers.all.map { answer in
            let link = link(answer.source, record)
            return [
                "question": answer.question.rawValue, "better": answer.question.better?.rawValue ?? "",
                "number": Escaped.visible(answer.figure),
                "size": answer.figure.count > 15 ? "long" : "", "tone": answer.tone.rawValue,
                "meaning": Escaped.visible(answer.meaning), "links": link.map { [$0] } ?? [],
            ]
        }
    }

    static func about(_ answers: Answers) -> [String] { answers.about.map { [Escaped.visible($0)] } ?? [] }

    /// Anchor and name of the page section that an answer links to.
    private static func link(_ source: Answer.Source?, _ record: RunRecord) -> [String: Any]? {
        switch source {
        case .scenario(let name): ["to": anchor(name, record), "name": Escaped.visible(name)]
        case .integrity: ["to": "problems", "name": "integrity"]
        case .hangs: hangs(record).isEmpty ? nil : ["to": "hangs", "name": "hangs"]
        case .interleavingTests: ["to": "plays", "name": "interleaving tests"]
        case .baseline: ["to": "since", "name": "since then"]
        case nil: nil
        }
    }

    static func anchor(_ scenario: String, _ record: RunRecord) -> String {
        let names = record.scenarioNames
        // A scenario without rows, trials and skipped drivers has no section on the page.
        guard let place = names.firstIndex(of: scenario) else { return "scenarios" }
        let own = fragment(scenario)
        // Names that give the same fragment get their index as a suffix.
        return names[..<place].contains { fragment($0) == own } ? "\(own)-\(place)" : own
    }

    /// Meaning of the signs before the numbers of the answers.
    private static func signs(_ record: RunRecord) -> [String] {
        let figures = Answers(record).all.map(\.figure)
        let known = [
            ("~", "~ near what the harness or the machine itself costs."), ("≥", "≥ a lower bound."),
        ]
        let used = known.filter { sign, _ in figures.contains { $0.contains(sign) } }.map(\.1)
        return used.isEmpty ? [] : [used.joined(separator: " ")]
    }

    /// A name as part of an address: letters, digits and hyphens.
    static func fragment(_ name: String) -> String {
        String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    static func definitionAnchor(_ metric: Metric) -> String { "metric-\(fragment(metric.rawValue))" }

    /// Definitions of the metrics that a run has figures of, in the order of the table of metrics.
    static func definitions(_ record: RunRecord) -> [[String: Any]] {
        let measured = Set(record.rows.map(\.figure.metric))
        return Metric.ordered(measured).map { metric in
            let entry = metric.entry
            let unit = entry.unit == .one ? "ratio" : entry.unit.rawValue
            return [
                "anchor": definitionAnchor(metric), "name": metric.rawValue,
                "unit": [unit, entry.worse.direction].compactMap { $0 }.joined(separator: ", "),
                "definition": entry.definition.replacing("`", with: ""),
            ]
        }
    }

    private static func findings(_ record: RunRecord) -> [String: Any] {
        let all = Finding.all(record)
        let (shown, open) = (all.filter { $0.kind != .open }, all.filter { $0.kind == .open })
        let most = max(shown.compactMap(\.share).map { min(abs($0), longestBar) }.max() ?? 0, 0.05)
        func values(_ finding: Finding) -> [String: Any] {
            [
                "kind": finding.kind.rawValue, "tone": finding.kind.isBad ? "bad" : "",
                "to": anchor(finding.scenario, record), "scenario": Escaped.visible(finding.scenario),
                "what": HTMLPage.breakable(finding.what),
                "remarks": finding.remark.isEmpty ? [] : [Escaped.visible(finding.remark)],
                "here": Escaped.visible(finding.here), "bound": Escaped.visible(finding.bound),
                "bars": finding.share.map { [Self.bar($0, of: most)] } ?? [],
            ]
        }
        let bad = shown.count(where: \.kind.isBad)
        return [
            "calm": calm(record), "findings": shown.map(values), "hasFindings": !shown.isEmpty,
            "openFindings": open.map(values),
            "openTitles": open.isEmpty ? [] : ["\(Humanised.count(open.count, "limit")) cannot be judged here"],
            "findingsTitle": bad == 0 ? "Slower, as advice (\(shown.count))" : "Broken or slower (\(shown.count))",
        ]
    }

    /// Heading of a run without findings. It names only what was looked at.
    private static func calm(_ record: RunRecord) -> String {
        let limits = record.judgements.isEmpty ? "no trial failed; no limit was judged" : "nothing broken"
        let compared = record.compared.map { $0.obstacle == nil } ?? false
        let words = compared ? "\(limits), nothing slower" : limits
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// Share at which bars stop growing.
    private static let longestBar = 2.0

    /// Values of a change and its bar; the width is in rem.
    static func bar(_ share: Double, of most: Double) -> [String: Any] {
        let width = 6 * min(abs(share), longestBar) / most
        return ["width": String(format: "%.2f", max(width, 0.1)), "text": ComparedCells.share(share)]
    }

    /// Undecided and broken limits, failed trials and skipped drivers.
    private static func problems(_ record: RunRecord) -> [String: Any] {
        let voided = record.voided.map { trial -> [String: Any] in
            let place = [trial.spec.scenario, trial.spec.driver, trial.spec.variant, "trial \(trial.spec.trial)"]
            return [
                "place": Escaped.visible(place.filter { !$0.isEmpty }.joined(separator: " ")),
                "fate": Escaped.visible(trial.fate.flag?.text ?? ""), "seed": "\(trial.spec.seed)",
                "lines": (trial.notes + trial.violations).map { Escaped.visible($0) },
            ]
        }
        let skipped = record.skipped.map {
            [
                "place": Escaped.visible("\($0.scenario) on \($0.driver)"), "reason": Escaped.visible($0.reason),
            ]
        }
        let limits = record.judgements.filter { $0.verdict != .kept }.map {
            ["verdict": $0.verdict.rawValue, "text": Escaped.visible("\($0.scenario): \($0.text)")]
        }
        return [
            "voided": voided, "hasVoided": !voided.isEmpty, "skipped": skipped, "hasSkipped": !skipped.isEmpty,
            "limits": limits, "hasLimits": !limits.isEmpty,
            "none": voided.isEmpty && skipped.isEmpty && limits.isEmpty && record.verdict.isGood,
            "unfinished": record.end == nil,
            "keptLimits": record.judgements.isEmpty ? "no limit was judged" : "every judged limit was kept",
            "unjudged": record.header.unjudgedLines.map { Escaped.visible($0) },
        ]
    }
}
