// compare.html: a comparison on one page that needs nothing else. How it looks is that of report.html. Pure.
import Comparison
import Measure

enum ComparisonHTML {
    static func render(_ judged: JudgedComparison) throws -> String {
        let plan = judged.record.plan
        let forest = ComparisonPlots.forest(judged.gates).map { [$0] } ?? []
        // Of gates that no clock was asked for there is nothing to show.
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
            "base": Escaped.visible("\(plan.base.name) (\(plan.base.label))"),
            "head": Escaped.visible("\(plan.head.name) (\(plan.head.label))"),
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
        return try HTMLPage.render(title: title, body: body, page)
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

    private static let table = """
        <tr><td><span class="badge {{tone}}">{{verdict}}</span></td><td>{{what}}{{#remarks}}<br><span class="quiet">{{.}}</span>{{/remarks}}</td>{{#figures}}<td class="figure">{{.}}</td>{{/figures}}</tr>
        """

    private static let head =
        "<tr>{{#words}}<th>{{.}}</th>{{/words}}{{#titles}}<th class=\"figure\">{{.}}</th>{{/titles}}</tr>"

    private static let title = "Tidegauge compare: {{base}} → {{head}}"

    private static let body = """
        <header>
        <h1>Tidegauge compare <span class="badge {{tone}}">{{word}}</span></h1>
        <p>{{verdict}}</p>
        <p class="quiet">{{base}} → {{head}}{{#isDirty}}; the head is the working tree, with what is not committed in it{{/isDirty}}{{#isOpen}}; not finished{{/isOpen}}</p>
        </header>
        <main>
        {{#hasSuspects}}
        <section>
        <h2>Suspected, and not confirmed</h2>
        <div class="scroll"><table>
        \(head)
        {{#suspects}}\(table){{/suspects}}
        </table></div>
        </section>
        {{/hasSuspects}}
        {{#hasCounted}}
        <section>
        <h2>Counted</h2>
        <p>{{countedSummary}}</p>
        <div class="scroll"><table>
        <tr>{{#countedWords}}<th>{{.}}</th>{{/countedWords}}{{#countedTitles}}<th class="figure">{{.}}</th>{{/countedTitles}}</tr>
        {{#counted}}
        <tr><td><span class="badge {{tone}}">{{verdict}}</span></td><td>{{what}}</td>{{#figures}}<td class="figure">{{.}}</td>{{/figures}}</tr>
        <tr><td></td><td colspan="5"><ul class="facts">{{#causes}}<li>{{.}}</li>{{/causes}}</ul>{{#hasFlameGraph}}<a href="{{flameGraph}}">flame graph of the difference</a>{{/hasFlameGraph}}<details><summary>calls that grew most</summary><ul class="facts">{{#paths}}<li>{{.}}</li>{{/paths}}</ul></details></td></tr>
        {{/counted}}
        </table></div>
        </section>
        {{/hasCounted}}
        <section>
        <h2>Gates</h2>
        <p>{{clockSummary}}</p>
        {{#hasGates}}
        <div class="scroll"><table>
        <tr><th>#</th>{{#words}}<th>{{.}}</th>{{/words}}{{#titles}}<th class="figure">{{.}}</th>{{/titles}}</tr>
        {{#subjects}}
        {{#cells}}
        <tr><td>{{number}}</td><td><span class="badge {{tone}}">{{verdict}}</span></td><td><a href="#{{anchor}}">{{what}}</a>{{#remarks}}<br><span class="quiet">{{.}}</span>{{/remarks}}</td>{{#figures}}<td class="figure">{{.}}</td>{{/figures}}</tr>
        {{/cells}}
        {{/subjects}}
        </table></div>
        <div class="plots">{{#forest}}\(HTMLPage.figure){{/forest}}</div>
        {{/hasGates}}
        </section>
        {{#hasNews}}
        <section>
        <h2>Also moved</h2>
        <p>Advice: of these, one in twenty is expected to be chance.</p>
        <div class="scroll"><table>
        \(head)
        {{#news}}\(table){{/news}}
        </table></div>
        </section>
        {{/hasNews}}
        {{#subjects}}
        <section id="{{anchor}}">
        <h2>{{number}} {{name}} <span class="badge {{tone}}">{{verdict}}</span></h2>
        <p>{{purpose}}</p>
        <div class="plots">{{#plots}}\(HTMLPage.figure){{/plots}}</div>
        <details><summary>all figures</summary>
        <div class="scroll"><table>
        {{#others}}\(table){{/others}}
        </table></div>
        </details>
        </section>
        {{/subjects}}
        {{#hasApart}}
        <section>
        <h2>Not compared, and void</h2>
        <ul class="facts">{{#oneSided}}<li>{{.}}</li>{{/oneSided}}{{#voids}}<li>void, run again: {{.}}</li>{{/voids}}</ul>
        </section>
        {{/hasApart}}
        </main>
        <footer class="quiet">would see: the smallest change that so many pairs show in four of five comparisons. Every pair is in pairs.csv, every judgement in effects.csv; Reports/README.md says what each means.</footer>

        """
}
