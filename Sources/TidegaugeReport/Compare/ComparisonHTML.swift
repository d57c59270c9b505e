// compare.html: a comparison as a self-contained page with the style of report.html. Pure.
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec

enum ComparisonHTML {
    static func render(_ judged: JudgedComparison) throws -> String {
        let plan = judged.record.plan
        let forest = ComparisonPlots.forest(judged.gates).map { [$0] } ?? []
        // `gates` is empty if the commits were compared by instruction counts alone.
        let measured = Array(zip(judged.engine.tracks, judged.gates))
        let perTrack = measured.map { track, _ in
            [
                ComparisonPlots.pairs(track), ComparisonPlots.shift(track, plan),
                track.criterion.scale == .difference
                    ? nil
                    : (track.confirmEffect ?? track.screenEffect).flatMap {
                        ComparisonPlots.power($0, threshold: track.criterion.threshold)
                    },
            ].compactMap { $0 }
        }
        let figures = ([forest] + perTrack).map { $0.map(HTMLPage.figure) }
        let subjects = measured.enumerated().map { index, measured -> [String: Any] in
            let (track, gate) = measured
            return [
                "number": "\(index + 1)", "anchor": "s\(index)", "name": Escaped.visible(track.subject.title),
                "purpose": Escaped.visible(track.subject.purpose), "tone": tone(gate.verdict),
                "verdict": gate.verdict.rawValue, "cells": cells(gate), "plots": figures[index + 1],
                "others": judged.rows.filter {
                    !$0.isGate && $0.scenario == gate.scenario && $0.driver == gate.driver
                }.map(cells),
            ]
        }
        let page: [String: Any] = [
            "verdict": Escaped.visible(ComparisonConsole.verdict(judged)),
            "word": judged.outcome.word.rawValue, "tone": tone(judged.outcome.word),
            "base": side(plan.base.name, plan.base.label), "head": side(plan.head.name, plan.head.label),
            "scope": plan.isCountedOnly
                ? "counts only" : "\(Humanised.count(plan.subjects.count, "gate")) measured in pairs",
            "profile": plan.profile.rawValue,
            "isDirty": plan.head.isDirty, "words": Array(ComparedCells.titles.prefix(2)),
            "titles": Array(ComparedCells.titles.dropFirst(2)), "forest": figures[0],
            "subjects": subjects, "hasGates": !subjects.isEmpty,
            "news": judged.news.map(cells), "hasNews": !judged.news.isEmpty,
            "oneSided": (plan.oneSided + judged.record.uncounted).map { Escaped.visible("\($0.what): \($0.why)") },
            "voids": judged.voids.map { Escaped.visible("\($0.subject) pair \($0.pair): \($0.reason)") },
            "isOpen": !judged.record.isFinished,
            "counted": CountedText.page(judged, tone: tone), "countedWords": Array(CountedText.titles.prefix(2)),
            "countedTitles": Array(CountedText.titles.dropFirst(2)),
            "countedSummary": Escaped.visible(CountedText.summary(judged.record.counted)),
            "hasCounted": !judged.record.counted.isEmpty, "clockSummary": Escaped.visible(ClockText.summary(judged)),
            "suspects": judged.suspects.map(cells), "hasSuspects": !judged.suspects.isEmpty,
            "hasApart": !(plan.oneSided + judged.record.uncounted).isEmpty || !judged.voids.isEmpty,
        ]
        let title = "Tidegauge compare: \(page["base"]!) → \(page["head"]!)"
        return try HTMLPage.render("compare", title: title, page)
    }

    /// Name and commit of a side, or the name alone if both are the same.
    private static func side(_ name: String, _ label: String) -> String {
        Escaped.visible(name == label ? name : "\(name) (\(label))")
    }

    private static func tone(_ word: ComparisonOutcome.Word) -> String {
        switch word {
        case .pass: "good"
        case .inconclusive: ""
        case .regressed, .failing: "bad"
        }
    }

    private static func tone(_ verdict: Verdict) -> String {
        switch verdict {
        case .unchanged, .improved: "good"
        case .regressed, .suspected: "bad"
        case .shifted, .inconclusive, .onlyBase, .onlyHead: ""
        }
    }

    private static func cells(_ row: ComparedRow) -> [String: Any] {
        let cells = ComparedCells(row)
        return [
            "verdict": cells.verdict, "tone": tone(row.verdict),
            "what": HTMLPage.breakable(cells.what),
            "figures": Array(cells.cells.dropFirst(2)),
            "remarks": cells.remark.isEmpty ? [] : [Escaped.visible(cells.remark)],
        ]
    }
}
