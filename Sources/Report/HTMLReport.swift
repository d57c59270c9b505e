// report.html: the whole run on one page that needs nothing else: no script, no font, no picture from anywhere. What stands
// in it is decided here; how it looks, in HTMLReport+Template. Pure but for the drawing of plots.
import Foundation
import Scenario

enum HTMLReport {
    static func render(_ record: RunRecord, _ drawing: any PlotDrawing) throws -> String {
        let names = record.scenarioNames
        let figures = drawing.figures(names.map { ScenarioPlots($0, record).plots() })
        let scenarios = names.indices.map { scenario(names[$0], $0, record, figures[$0]) }
        let verdict = record.verdict
        let drivers = Digest.inOrder(record.trials.map(\.spec.driver)).joined(separator: ", ")
        let hangs = hangs(record)
        var page: [String: Any] = [
            "run": Escaped.visible(record.runID),
            "verdict": verdict.word, "tone": verdict.isGood ? "good" : "bad",
            "commit": Escaped.visible(String(record.environment.commit.prefix(12)))
                + (record.environment.dirty ? " with changes" : ""),
            "profile": record.header.profile.rawValue, "drivers": Escaped.visible(drivers),
            "trialCount": Humanised.count(record.trials.count, "trial"),
            "scenarioCount": Humanised.count(names.count, "scenario"),
            "scenarios": scenarios, "problems": problems(record), "hasHangs": !hangs.isEmpty, "hangs": hangs,
            "environment": EnvironmentLines.lines(record).map {
                ["name": $0.name, "value": Escaped.visible($0.value)]
            },
        ]
        page["since"] = record.compared?.page
        return try HTMLPage.render(title: title, body: body, page)
    }

    private static func scenario(
        _ name: String, _ index: Int, _ record: RunRecord, _ plots: [[String: Any]]
    ) -> [String: Any] {
        let header = record.scenario(name)
        let table = Digest.table(name, record.rows)
        let judged = record.judgements.filter { $0.scenario == name }
        let kept = judged.filter { $0.verdict == .kept }.map { Escaped.visible($0.text) }
        let isBad = judged.contains { $0.verdict != .kept } || record.voided.contains { $0.spec.scenario == name }
        let values: [String: Any?] = [
            "anchor": "s\(index)", "name": Escaped.visible(name), "tone": isBad ? "bad" : "good",
            "purpose": Escaped.visible(header?.purpose ?? ""), "represents": Escaped.visible(header?.represents ?? ""),
            "hasRepresents": header != nil,
            "tiles": Digest.gate(name, record).map { gate in
                [
                    "driver": Escaped.visible(gate.driver), "metric": gate.name, "figure": gate.text,
                    "ends": gate.text.contains("…") ? ", first … last point" : "",
                ]
            },
            "plots": plots, "sides": sideBySide(name, record), "hasTable": !table.rows.isEmpty, "titles": table.titles,
            "rows": table.rows.map { row in
                [
                    "driver": Escaped.visible(row.driver), "variant": breakable(row.variant), "cells": row.cells,
                ] as [String: Any]
            },
            "sweep": record.rows.filter { $0.scenario == name && $0.variant == RunRow.overSweep }.map(sweepFigure),
            "notes": table.notes.map { Escaped.visible($0) },
            "limits": judged.filter { $0.verdict != .kept }.map {
                ["verdict": $0.verdict.rawValue, "text": Escaped.visible($0.text)]
            },
            "keptCount": kept.isEmpty ? nil : "\(kept.count)", "kept": kept,
        ]
        return values.compactMapValues { $0 }
    }

    fileprivate static func figure(_ plot: Plot, _ picture: PlotPicture) -> [String: Any] {
        var figure: [String: Any] = [
            "title": Escaped.visible(plot.title), "caption": plot.caption,
            "legend": plot.series.compactMap { series in
                series.label.map { ["slot": "\(series.slot)", "label": Escaped.visible($0)] }
            },
        ]
        switch picture {
        case .svg(let svg): figure["svg"] = svg
        case .missing(let reason): figure["missing"] = Escaped.visible(reason)
        }
        return figure
    }

    private static func sweepFigure(_ row: RunRow) -> [String: Any] {
        let figure = row.figure
        return [
            "name": figure.metric.rawValue + (figure.statistic == .value ? "" : " \(figure.statistic.rawValue)"),
            "driver": Escaped.visible(row.driver), "value": Digest.cell([figure]),
            "place": breakable(Digest.place(figure).joined(separator: ", ")),
        ]
    }

    /// The gate's figure, a row per point and a column per engine; nothing where there is one engine.
    private static func sideBySide(_ name: String, _ record: RunRecord) -> [String: Any] {
        guard let gate = record.scenario(name)?.gate else { return [:] }
        let rows = record.rows.filter {
            $0.scenario == name && $0.figure.metric == gate && $0.figure.statistic.rawValue == gate.defaultStatistic
        }
        let drivers = Digest.inOrder(rows.map(\.driver))
        guard drivers.count > 1 else { return [:] }
        let lines = Digest.inOrder(rows.map(\.variant)).map { variant -> [String: Any] in
            let cells = drivers.map { driver in rows.filter { $0.variant == variant && $0.driver == driver } }
            return [
                "variant": breakable(variant.isEmpty ? "-" : variant),
                "cells": cells.map { $0.isEmpty ? "" : Digest.cell($0.map(\.figure)) },
            ]
        }
        return ["metric": gate.rawValue, "engines": drivers.map { Escaped.visible($0) }, "lines": lines]
    }

    /// What did not go as it should: limits, trials, drivers that cannot.
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
        ]
    }

    /// Long variants may wrap behind a semicolon: a zero-width space says where.
    static func breakable(_ text: String) -> String { Escaped.visible(text).replacing(";", with: ";\u{200B}") }
}

extension PlotDrawing {
    /// What pages show of plots, all drawn at once: a list for each list.
    func figures(_ plots: [[Plot]]) -> [[[String: Any]]] {
        var pictures = draw(plots.joined().map(PlotScript.text))[...]
        return plots.map { own in
            defer { pictures = pictures.dropFirst(own.count) }
            return zip(own, pictures).map(HTMLReport.figure)
        }
    }
}
