// A page about two finished runs: changes, answers, and the scenarios of both with their plots overlaid. The runs
// were measured one after the other, so nothing is called a regression (`WeakComparison`). Pure.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Writes the page about two runs.
public enum PairReport {
    private static func scenarios(_ record: RunRecord) -> String {
        let names = record.scenarioNames.map { Escaped.visible($0) }
        let more = names.count > shownNames ? " and \(names.count - shownNames) more" : ""
        return names.isEmpty ? "none" : names.prefix(shownNames).joined(separator: ", ") + more
    }

    /// Maximum number of scenarios that an error names for each run.
    private static let shownNames = 5

    /// Writes `head/against-BASE.html`.
    /// - Returns: path of the page and a text for the terminal.
    /// - Throws: `DamagedReport`, also if the runs have no scenario in common; errors of rendering and writing the
    ///   page.
    public static func write(base: String, head: String) throws -> (path: String, text: String) {
        let (before, after) = (try RunRecord.load(base), try RunRecord.load(head))
        guard !Set(before.scenarioNames).isDisjoint(with: after.scenarioNames) else {
            throw DamagedReport(
                "no scenario in common: \(base) has \(scenarios(before)); \(head) has \(scenarios(after))")
        }
        let path = "\(head)/against-\(before.runID).html"
        let rows = WeakComparison.rows(base: before, head: after)
        try ReportFile.replace(path, with: HTMLPair.render(before, after, rows).utf8)
        return (path, ComparisonConsole.weak(rows, before, after))
    }
}

enum HTMLPair {
    /// - Parameter rows: result of `WeakComparison` for both runs.
    static func render(_ base: RunRecord, _ head: RunRecord, _ rows: [ComparedRow]) throws -> String {
        // Changes without a ratio follow those with one.
        let changed = rows.filter { !$0.remark.isEmpty && $0.change != nil }.sorted {
            (($0.isDifference ? 1 : 0), -abs($0.change ?? 0)) < (($1.isDifference ? 1 : 0), -abs($1.change ?? 0))
        }
        let most = max(changed.filter { !$0.isDifference }.map { min(abs($0.change ?? 0), 2) }.max() ?? 0, 0.05)
        let both = merged(base, head)
        let page: [String: Any] = [
            "base": Escaped.visible(base.runID), "head": Escaped.visible(head.runID),
            "baseCommit": commit(base), "headCommit": commit(head),
            "changes": changed.prefix(shownChanges).map { change($0, most) }, "hasChanges": !changed.isEmpty,
            "rest": changed.dropFirst(shownChanges).map { change($0, most) }, "hasRest": changed.count > shownChanges,
            "restCount": "\(max(changed.count - shownChanges, 0))",
            "changeCount": "\(changed.count)",
            "gates": rows.filter(\.isGate).map { ComparedCells($0) }.map { cells in
                ["what": HTMLPage.breakable(cells.what), "figures": Array(cells.cells.dropFirst(2))] as [String: Any]
            },
            "titles": Array(ComparedCells.titles.dropFirst(2)),
            "answers": answers(base, head, both), "about": HTMLReport.about(Answers(head)),
            "states": [("before", base), ("now", head)].map { name, record in
                HTMLReport.state(record).merging(["name": name]) { _, new in new }
            },
            "machines": base.environment.cpuModel == head.environment.cpuModel
                && base.environment.cores == head.environment.cores
                ? [] : ["The machines differ: their times cannot be compared."],
            "groups": HTMLReport.groups(both, isPair: true),
            "scenarioCount": Humanised.count(HTMLReport.listed(both).count, "scenario"),
            "definitions": HTMLReport.definitions(both),
            "environment": HTMLReport.environment(head),
        ]
        let title = "Tidegauge \(Escaped.visible(base.runID)) → \(Escaped.visible(head.runID))"
        return try HTMLPage.render("pair", title: title, page)
    }

    /// Number of changes shown; further ones are folded.
    private static let shownChanges = 20

    private static func commit(_ record: RunRecord) -> String {
        Escaped.visible(String(record.environment.commit.prefix(8)))
            + (record.environment.dirty ? " with changes" : "") + ", " + record.header.profile.rawValue
    }

    private static func change(_ row: ComparedRow, _ most: Double) -> [String: Any] {
        let cells = ComparedCells(row)
        let share = row.isDifference ? nil : row.change
        let worse = Criterion(metric: row.name.metric, statistic: row.name.statistic).worse
        let isWorse = worse == .less ? (row.change ?? 0) < 0 : (row.change ?? 0) > 0
        return [
            "what": HTMLPage.breakable(cells.what), "base": cells.value(row.base), "head": cells.value(row.head),
            "tone": worse == .neither ? "neither" : isWorse ? "worse" : "better",
            "bars": share.map { [HTMLReport.bar($0, of: most)] } ?? [["width": "0", "text": cells.change]],
        ]
    }

    /// Answers of the later run, each with the earlier figure.
    private static func answers(_ base: RunRecord, _ head: RunRecord, _ both: RunRecord) -> [[String: Any]] {
        let before = Answers(base).all
        return zip(HTMLReport.answers(Answers(head), both), zip(before, Answers(head).all)).map { shown, pair in
            let (old, new) = pair
            var text = "was \(old.figure)"
            if let then = old.value, let now = new.value, old.source == new.source {
                text += " (\(ComparedCells.share(now / then - 1)))"
            }
            // This page has no links to the separate parts of a run's page.
            let links = new.scenario == nil ? [] : shown["links"] ?? []
            return shown.merging(["meaning": Escaped.visible("\(text) · \(new.meaning)"), "links": links]) { $1 }
        }
    }

    // MARK: Both runs as one

    private static let names = (base: "before", head: "now")

    /// Returns a record of both runs. Names of engines tell the run: `stillingwell before`, `stillingwell now`.
    static func merged(_ base: RunRecord, _ head: RunRecord) -> RunRecord {
        var both = head
        both.header.scenarios += base.header.scenarios.filter { head.scenario($0.name) == nil }
        let (old, new) = (base.suffixed(names.base), head.suffixed(names.head))
        both.rows = old.rows + new.rows
        both.trials = old.trials + new.trials
        both.series = old.series + new.series
        both.samples = old.samples.merging(new.samples) { first, _ in first }
        both.judgements = new.judgements
        return both
    }
}

extension RunRecord {
    /// Returns the record with a suffix on each engine's name.
    fileprivate func suffixed(_ suffix: String) -> RunRecord {
        var record = self
        func named(_ driver: String) -> String { "\(driver) \(suffix)" }
        func named(_ key: TrialKey) -> TrialKey {
            TrialKey(scenario: key.scenario, driver: named(key.driver), variant: key.variant, trial: key.trial)
        }
        for index in rows.indices { record.rows[index].driver = named(rows[index].driver) }
        for index in trials.indices { record.trials[index].spec.driver = named(trials[index].spec.driver) }
        for index in series.indices { record.series[index].trial = named(series[index].trial) }
        record.samples = Dictionary(samples.map { (named($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        for index in judgements.indices { record.judgements[index].driver = named(judgements[index].driver) }
        return record
    }
}
