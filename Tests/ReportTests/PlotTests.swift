import Foundation
import FoundationXML
import Measure
import Testing

@testable import Report

@Suite("Plots")
struct PlotTests {
    private let script = PlotScript.text(
        Plot(
            title: "", caption: "", xLabel: "x", yLabel: "y", x: .percentile, y: .seconds(isLogarithmic: true),
            series: [
                Plot.Series("a", 1, .line, [.init(1, 1e-6), .init(100, 2e-3)]),
                Plot.Series("b", 8, .points, [.init(10, 1e-4)]),
            ]))

    @Test(
        "gnuplot's picture is part of a page and has the page's colours",
        .enabled("gnuplot is not installed") { hasGnuplot })
    func drawn() throws {
        guard case .svg(let svg) = try #require(Gnuplot().draw([script, script]).last) else {
            Issue.record("no picture")
            return
        }
        #expect(svg.hasPrefix("<svg viewBox=") && svg.hasSuffix("</svg>"))
        #expect(svg.contains("class=\"p1\"") && svg.contains("class=\"c8\"") && svg.contains(" µs</tspan>"))
        for word in ["rgb(", "black", "xlink", "script", "<?xml", "id=", "white"] {
            #expect(!svg.contains(word), "\(word)")
        }
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse())
    }

    @Test("Without gnuplot, and with one that fails, each plot says so")
    func missing() {
        for executable in [nil, "/bin/false", "/nowhere/gnuplot"] {
            for picture in Gnuplot(executable: executable).draw([script, script]) {
                guard case .missing(let reason) = picture else {
                    Issue.record("a picture from nowhere")
                    return
                }
                #expect(
                    reason.contains("gnuplot") && reason.contains("tidegauge report")
                        || executable == "/nowhere/gnuplot")
            }
        }
    }

    @Test("What an axis cannot show is left out, and a plot of nothing is none")
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

    @Test("Curves for which there is no colour are counted in the caption", arguments: [8, 9, 11])
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
        #expect(plot.series.count { $0.label != nil } == 8)
        let words = [8: nil, 9: "There is 1 more", 11: "There are 3 more"][families]!
        if let words { #expect(plot.caption.contains(words)) } else { #expect(!plot.caption.contains(" more")) }
    }
}

private let hasGnuplot = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/gnuplot") }
