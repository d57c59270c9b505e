// The scenarios of a page, grouped by folder, each folded under its question and its gate (the figure by which commits
// are compared); and the table of interleaving tests by engine. Pure.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec

extension HTMLReport {
    /// Scenarios except interleaving tests, which have their own table.
    static func listed(_ record: RunRecord) -> [String] {
        let plays = Set(InterleavingTests(record).rows.map(\.scenario))
        return record.scenarioNames.filter { !plays.contains($0) }
    }

    /// Groups the scenarios by the folder of their files.
    /// - Parameter isPair: whether the record holds two runs, so that gates show both figures.
    static func groups(_ record: RunRecord, isPair: Bool = false) -> [[String: Any]] {
        let listed = listed(record)
        func folder(_ name: String) -> String {
            let parts = record.scenario(name)?.path.split(separator: "/") ?? []
            return parts.count > 1 ? String(parts[parts.count - 2]) : "scenarios"
        }
        return Digest.inOrder(listed.map(folder)).map { group in
            let names = listed.filter { folder($0) == group }
            return [
                "group": Escaped.visible(group), "count": "\(names.count)",
                "scenarios": names.map { scenario($0, record, isPair) },
            ]
        }
    }

    private static func scenario(_ name: String, _ record: RunRecord, _ isPair: Bool) -> [String: Any] {
        let header = record.scenario(name)
        let table = Digest.table(name, record.rows, gate: Digest.gateMetric(name, record), hasRest: true)
        let judged = record.judgements.filter { $0.scenario == name }
        let kept = judged.filter { $0.verdict == .kept }.map { Escaped.visible($0.text) }
        let isBroken = judged.contains { $0.verdict == .broken } || record.voided.contains { $0.spec.scenario == name }
        let gates = Digest.gate(name, record)
        let metrics = Digest.inOrder(record.rows.filter { $0.scenario == name }.map(\.figure.metric.rawValue))
        let words = [name, header?.purpose ?? "", header?.represents ?? ""] + metrics + table.rows.map(\.driver)
        let values: [String: Any?] = [
            "anchor": anchor(name, record), "name": Escaped.visible(name), "tone": isBroken ? "bad" : "good",
            "mark": isBroken ? "✘" : "✔",
            "words": Escaped.visible(Digest.inOrder(words).joined(separator: " ").lowercased()),
            "about": header?.gate.entry.subject == .harness ? "harness" : "store",
            "purpose": Escaped.visible(header?.purpose ?? ""), "represents": Escaped.visible(header?.represents ?? ""),
            "hasRepresents": header.map { !$0.represents.isEmpty } ?? false,
            "gates": isPair
                ? then(gates)
                : gates.prefix(1).map { gate in
                    [
                        "figure": gate.text, "metric": HTMLPage.marked("\(gate.name) \(gate.worse.mark)"),
                        "more": gate.range + (gates.count > 1 ? ", \(gates.count) engines" : ""),
                    ]
                },
            "plots": ScenarioPlots(name, record).plots().map(HTMLPage.figure), "sides": sideBySide(name, record),
            "hasTable": !table.rows.isEmpty,
            "titles": table.headlines.map { ["title": HTMLPage.marked($0.marked), "to": definitionAnchor($0.metric)] },
            "rows": table.rows.map { row in
                [
                    "driver": Escaped.visible(row.driver), "variant": HTMLPage.breakable(row.variant),
                    "cells": zip(row.cells, row.spreads).map { ["text": $0, "spread": $1] },
                ] as [String: Any]
            },
            "sweep": record.rows.filter { $0.scenario == name && $0.variant == RunRow.overSweep }.map(sweepFigure),
            "notes": table.notes.map { Escaped.visible($0) },
            "limits": judged.filter { $0.verdict != .kept }.map {
                [
                    "verdict": $0.verdict.rawValue, "tone": $0.verdict == .broken ? "bad" : "",
                    "text": Escaped.visible($0.text),
                ]
            },
            "keptCount": kept.isEmpty ? nil : "\(kept.count)", "kept": kept,
        ]
        return values.compactMapValues { $0 }
    }

    /// Gate of the first engine in both runs.
    private static func then(_ gates: [Digest.Gate]) -> [[String: Any]] {
        guard let first = gates.first else { return [] }
        func engine(_ gate: Digest.Gate) -> [Substring] { gate.driver.split(separator: " ").dropLast() }
        let both = gates.filter { engine($0) == engine(first) }
        let name = HTMLPage.marked("\(first.name) \(first.worse.mark)")
        return [["figure": both.map(\.text).joined(separator: " → "), "metric": name, "more": first.range]]
    }

    private static func sweepFigure(_ row: RunRow) -> [String: Any] {
        let figure = row.figure
        return [
            "name": figure.metric.rawValue + (figure.statistic == .value ? "" : " \(figure.statistic.rawValue)"),
            "driver": Escaped.visible(row.driver), "value": Digest.cell([figure]),
            "place": HTMLPage.breakable(Digest.place(figure).joined(separator: ", ")),
        ]
    }

    /// Table of the gate with a row per point and a column per engine. Empty for a single engine.
    private static func sideBySide(_ name: String, _ record: RunRecord) -> [String: Any] {
        guard let gate = Digest.gateMetric(name, record) else { return [:] }
        let rows = record.rows.filter {
            $0.scenario == name && $0.figure.metric == gate && $0.figure.statistic.rawValue == gate.defaultStatistic
        }
        let drivers = Digest.inOrder(rows.map(\.driver))
        guard drivers.count > 1 else { return [:] }
        let lines = Digest.inOrder(rows.map(\.variant)).map { variant -> [String: Any] in
            let cells = drivers.map { driver in rows.filter { $0.variant == variant && $0.driver == driver } }
            return [
                "variant": HTMLPage.breakable(variant.isEmpty ? "-" : variant),
                "cells": cells.map { $0.isEmpty ? "" : Digest.cell($0.map(\.figure)) },
            ]
        }
        return ["metric": gate.rawValue, "engines": drivers.map { Escaped.visible($0) }, "lines": lines]
    }

    // MARK: Interleaving tests

    /// Values for the table of interleaving tests, or nil if there are none.
    static func plays(_ record: RunRecord) -> [String: Any]? {
        let plays = InterleavingTests(record)
        guard !plays.rows.isEmpty else { return nil }
        func cell(_ outcome: InterleavingTests.Outcome) -> [String: Any] {
            let tone = outcome == .none || outcome == .skipped ? "quiet" : outcome.isWell ? "good" : "bad"
            return ["text": Escaped.visible(InterleavingWords.cell(outcome)), "tone": tone]
        }
        let rows = plays.rows.map { row -> [String: Any] in
            let header = record.scenario(row.scenario)
            let isWell = row.isWell
            let words = [row.scenario, header?.purpose ?? ""] + row.controls.map(\.driver) + plays.engines
            return [
                "anchor": anchor(row.scenario, record), "name": Escaped.visible(row.scenario),
                "tone": isWell ? "good" : "bad", "words": Escaped.visible(words.joined(separator: " ").lowercased()),
                "purpose": Escaped.visible(header?.purpose ?? ""),
                "represents": Escaped.visible(header?.represents ?? ""), "outcomes": row.outcomes.map(cell),
                "judged": record.judgements.filter { $0.scenario == row.scenario }.map {
                    Escaped.visible("\($0.verdict.rawValue): \($0.text)")
                },
                "controls": row.controls.map { control in
                    cell(control.outcome).merging(["driver": Escaped.visible(control.driver)]) { _, new in new }
                },
            ]
        }
        return [
            "count": Humanised.count(rows.count, "interleaving test"), "isBad": !plays.isWell,
            "engines": plays.engines.map { Escaped.visible($0) }, "rows": rows,
            "summary": Escaped.visible(plays.sentences.joined(separator: "; ")),
        ]
    }

    /// Heading such as `24 expected and caught, 13 warnings of lock order`.
    static func hangTitle(_ record: RunRecord) -> String {
        let all = record.trials.flatMap { $0.hangs ?? [] }
        let warnings = all.count { $0.kind == .inversion }
        let expected = all.count { $0.kind != .inversion && $0.isExpected }
        let bad = all.count - warnings - expected
        return [
            (bad, "not expected"), (expected, "expected and caught"),
            (warnings, "warning\(warnings == 1 ? "" : "s") of lock order"),
        ]
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
