// The part of a page that shows engines side by side. Pure.
import Foundation

extension HTMLReport {
    /// Values of the tables of engines, one for each scenario that several engines ran.
    static func engines(_ record: RunRecord) -> [[String: Any]] { EngineTable.all(record).map(engines) }

    private static func engines(_ table: EngineTable) -> [String: Any] {
        let hasVariants = table.rows.contains { !$0.variant.isEmpty }
        return [
            "scenario": Escaped.visible(table.scenario), "note": EngineRatios.note, "hasVariants": hasVariants,
            "against": Escaped.visible(table.engine),
            "titles": table.columns.map { ["title": $0.marked, "to": definitionAnchor($0.metric)] },
            "rows": table.rows.map { row in
                [
                    "driver": Escaped.visible(row.driver), "hasVariants": hasVariants,
                    "variant": HTMLPage.breakable(row.variant),
                    "bars": row.bar.map { [["width": String(format: "%.2f", max(6 * $0, 0.1))]] } ?? [],
                    "first": row.cells.first ?? "", "cells": Array(row.cells.dropFirst()), "wrong": row.wrong,
                    "tone": row.isWrong ? "bad" : "good", "ratios": row.ratios.joined(separator: ", "),
                ] as [String: Any]
            },
        ]
    }
}
