import Foundation
import FoundationXML
import Testing
import TidegaugeMeasure

@testable import TidegaugeReport

@Suite("Plots")
struct PlotTests {
    private static let plot = Plot(
        title: "a <title>", caption: "", xLabel: "percentile (%)", yLabel: "\"latency\" & more", x: .percentile,
        y: .seconds(isLogarithmic: true),
        series: [
            Plot.Series("a <curve>", 1, .line, [.init(1, 1e-6), .init(10, 1e-5), .init(100, 1e-3)]),
            Plot.Series("b", 8, .points, [.init(10, 1e-4), .init(10, 1e-4)]),
            Plot.Series(nil, 8, .segments, [.init(1, 1e-6), .init(100, 1e-6)]),
        ])

    @Test("A picture is well-formed, has the page's colours, and its curves lie on a grid of 10 000")
    func drawn() throws {
        let svg = PlotSVG.text(Self.plot)
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse())
        #expect(svg.contains("class=\"p1 line k1\" d=\"M0 10000L5000 6667L10000 0\""))
        #expect(svg.contains("class=\"p8 points k8\" d=\"M5000 3333h0M5000 3333h0\""))
        #expect(svg.contains("class=\"p8 line k8\" d=\"M0 10000L10000 10000\""))
        #expect(svg.contains("data-x=\"percentile log 1.0 100.0\" data-y=\"seconds log 1e-06 0.001\""))
        #expect(svg.contains(">10 µs<") && svg.contains(">99<") && svg.contains(">50<"))
        for word in ["<title>", "<curve>", "id=", "http", "rgb("] { #expect(!svg.contains(word), "\(word)") }
    }

    @Test("Rows run downwards from the first, and one point is a dot")
    func rows() {
        let svg = PlotSVG.text(
            Plot(
                title: "", caption: "", xLabel: "", yLabel: "", x: .change, y: .rows,
                series: [
                    Plot.Series(nil, 1, .line, [.init(0.5, 1)]), Plot.Series(nil, 2, .points, [.init(-0.5, 3)]),
                ]))
        #expect(svg.contains("data-down=\"\""))
        #expect(svg.contains("p1 points k1\" d=\"M9310 0h0\"") && svg.contains("p2 points k2\" d=\"M690 10000h0\""))
    }

    @Test(
        "Ticks are round, and as many as can be told apart",
        arguments: [
            (.seconds(isLogarithmic: true), [2e-6, 3e-3], ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]),
            (.seconds(isLogarithmic: false), [-2e-7, 9e-7], ["-200 ns", "0", "200 ns", "400 ns", "600 ns", "800 ns"]),
            (.plain(isLogarithmic: false), [0, 4], ["0", "1", "2", "3", "4"]),
            (.plain(isLogarithmic: true), [1_000, 1_000_000], ["1000", "10k", "100k", "1M"]),
            (.plain(isLogarithmic: true), [1, 1e12], ["1", "100", "10k", "1M", "100M", "1e+04M", "1e+06M"]),
            (.percentile, [1, 5_000], ["0", "50", "90", "99", "99.9", "99.99"]),
            (.change, [-0.01, 0.032], ["-1 %", "0 %", "+1 %", "+2 %", "+3 %"]),
            (.rows, [0.5, 3.5], ["1", "2", "3"]),
        ] as [(Plot.Axis, [Double], [String])])
    func ticks(kind: Plot.Axis, values: [Double], texts: [String]) {
        let axis = PlotAxis(kind, values)
        #expect(axis.ticks.map(\.text) == texts)
        #expect(axis.ticks.allSatisfy { (-1e-9...1 + 1e-9).contains(axis.share($0.value)) })
        #expect(values.allSatisfy { (0...1).contains(axis.share($0)) })
    }

    @Test("Values that are all the same have an axis as well", arguments: [0, -3, 7, 1e-9] as [Double])
    func level(_ value: Double) {
        for kind in [Plot.Axis.plain(isLogarithmic: false), .change, .rows, .seconds(isLogarithmic: false)] {
            let axis = PlotAxis(kind, [value, value])
            #expect(axis.low < axis.high && axis.share(value).isFinite && !axis.ticks.isEmpty)
        }
    }

    @Test("Values that an axis cannot show are left out, and a plot of nothing is none")
    func drawable() {
        var plot = Plot(
            title: "", caption: "", xLabel: "", yLabel: "", x: .plain(isLogarithmic: true),
            y: .plain(isLogarithmic: true),
            series: [
                Plot.Series(nil, 1, .line, [.init(0, 1), .init(1, .nan), .init(2, 3)])
            ])
        #expect(plot.drawable()?.series[0].points == [.init(2, 3)])
        plot.series[0].points = [.init(1, -1)]
        #expect(plot.drawable() == nil)
    }

    @Test("Curves of one engine differ by their pattern, and more than there are are counted", arguments: [4, 5, 7])
    func curvesLeftOut(_ families: Int) throws {
        var record = RunRecord(runID: "run", environment: Fixture.environment)
        record.rows = (1...families).flatMap { family in
            [1_000, 10_000].map { items in
                Fixture.row(
                    Figure(.upkeepCost, .value, 5_000, n: 100), scenario: "result-size",
                    variant: "dataset.items=\(items);observers.count=\(family)")
            }
        }
        let plot = try #require(
            ScenarioPlots("result-size", record).sweeps().first { $0.title == "upkeep_cost against dataset.items" })
        let shown = plot.series.filter { $0.label != nil }
        #expect(shown.map(\.dash) == [0, 1, 2, 3] && shown.allSatisfy { $0.colour == 1 })
        #expect(shown[0].label == "stillingwell observers.count=1")
        let words = [4: nil, 5: "There is 1 more", 7: "There are 3 more"][families]!
        if let words { #expect(plot.caption.contains(words)) } else { #expect(!plot.caption.contains(" more")) }
    }
}
