// The part of a page that shows engines side by side. Pure.
import Foundation

extension HTMLReport {
    /// Values of the tables of engines, one for each scenario that several engines ran.
    static func engines(_ record: RunRecord) -> [[String: Any]] { EngineTable.all(record).map(engines) }

    /// Sentences for the first screen, one for each of the first scenarios that several engines ran.
    static func standings(_ record: RunRecord) -> [[String: Any]] {
        EngineRatios.all(record).prefix(shownStandings).map { ratios in
            [
                "text": Escaped.visible(ratios.sentence), "name": Escaped.visible(ratios.scenario),
                "to": enginesAnchor(ratios.scenario),
            ]
        }
    }

    private static let shownStandings = 3

    private static func enginesAnchor(_ scenario: String) -> String { "engines-\(fragment(scenario))" }

    private static func engines(_ table: EngineTable) -> [String: Any] {
        let drivers = Digest.inOrder(table.rows.map(\.driver))
        let variants = Digest.inOrder(table.rows.map(\.variant))
        let always = Digest.constant(variants)
        return [
            "scenario": Escaped.visible(table.scenario), "note": EngineRatios.note,
            "anchor": enginesAnchor(table.scenario), "against": Escaped.visible(table.engine),
            "overall": table.overall.map { Escaped.visible($0) },
            "always": always.isEmpty ? [] : [Escaped.visible(always.joined(separator: ", "))],
            "width": "\(table.columns.count + 3)",
            "titles": table.columns.map { ["title": HTMLPage.marked($0.marked), "to": definitionAnchor($0.metric)] },
            "points": variants.map { variant -> [String: Any] in
                let own = Digest.settings(variant).filter { !always.contains($0) }
                return [
                    "names": own.isEmpty ? [] : [Escaped.visible(own.joined(separator: ", "))],
                    "rows": table.rows.filter { $0.variant == variant }.map { row in
                        values(row, colour: 1 + (drivers.firstIndex(of: row.driver) ?? 0) % Plot.slots)
                    },
                ]
            },
        ]
    }

    private static func values(_ row: EngineTable.Row, colour: Int) -> [String: Any] {
        let cells = row.cells.indices.map { column in
            ["text": row.cells[column], "spread": row.spreads[column], "best": row.areBest[column] ? "best" : ""]
        }
        return [
            "driver": Escaped.visible(row.driver), "colour": "\(colour)",
            "bars": row.bar.map { [["width": String(format: "%.2f", max(6 * $0, 0.1))]] } ?? [],
            "first": cells.prefix(1).map { $0 }, "cells": Array(cells.dropFirst()), "wrong": row.wrong,
            "tone": row.isWrong ? "bad" : "good", "ratios": row.ratios,
        ]
    }
}
