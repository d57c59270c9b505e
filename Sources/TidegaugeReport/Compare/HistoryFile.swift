// history.ndjson: one line per commit and figure; and its table and page.
import Foundation
import TidegaugeCompare
import TidegaugeSpec

public enum HistoryFile {
    public static let fileName = "history.ndjson"

    /// - Throws: `DamagedReport` if the file is missing or has no complete line, or if a complete line is not a
    ///   plausible point of this version.
    public static func read(_ path: String) throws -> [HistoryPoint] {
        let points: [HistoryPoint] = try JSONLines.read(
            path, "a history", hint: "tidegauge history --add COMMIT begins one")
        guard points.allSatisfy({ $0.version == HistoryPoint.currentVersion }) else {
            throw DamagedReport("\(path): it holds points of another version")
        }
        if let place = points.firstIndex(where: { !$0.isPlausible }) {
            throw DamagedReport(
                "\(path): point \(place + 1), of \(points[place].commit), holds a number that no measurement has; remove the line"
            )
        }
        return points
    }

    /// Checks that points can be appended to the file, and creates it if missing.
    public static func check(_ path: String) throws {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        try ReportFolder.prepare(String(folder))
        _ = try AppendedFile(path)
    }

    public static func append(_ points: [HistoryPoint], to path: String) throws {
        try AppendedFile(path).append(points.map { try JSONLines.text($0) }.joined())
    }
}

public enum HistoryTable {
    /// Returns each series with its last points and the breaks between them. A break is a commit from which on the
    /// median of the figure is a different one (`HistorySeries.Break`).
    /// - Parameter subject: returns the subject line of a commit; empty if unknown.
    public static func render(_ all: [HistorySeries], last: Int, subject: (String) -> String) -> String {
        all.map { series in
            let points = series.points.suffix(last)
            let first = series.points.count - points.count
            let breaks = Dictionary(uniqueKeysWithValues: series.breaks.map { ($0.index, $0) })
            let lines = points.enumerated().flatMap { offset, point -> [String] in
                let told = breaks[first + offset].map {
                    "  ── \($0.isWorse ? "worse" : "moved") by \(ComparedCells.share($0.change)) from here on ──"
                }
                let value = point.value.map { Humanised.text($0, unit: point.unit) } ?? "-"
                let ratio = ComparedCells.share(Foundation.exp(point.logRatio) - 1)
                let line =
                    "  \(point.commit.prefix(12))  \(padded(ratio, 9))  \(padded(value, 10))  \(subject(point.commit))"
                return (told.map { [$0] } ?? []) + [line]
            }
            return ([series.name.description] + lines).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// history.html: one plot per series.
public enum HistoryPage {
    public static func write(_ all: [HistorySeries], to path: String) throws {
        let page: [String: Any] = [
            "plots": all.compactMap(plot).map(HTMLPage.figure),
            "breaks": all.flatMap { series in
                series.breaks.map { one in
                    let commit = series.points[one.index].commit.prefix(12)
                    return
                        "\(series.name): \(one.isWorse ? "worse" : "moved") by \(ComparedCells.share(one.change)) at \(commit)"
                }
            }.map { Escaped.visible($0) },
        ]
        try ReportFile.replace(path, with: HTMLPage.render("history", title: "Tidegauge history", page).utf8)
    }

    /// Change by commit, relative to the anchor, a fixed build that was measured beside each commit. Breaks are
    /// vertical lines.
    static func plot(_ series: HistorySeries) -> Plot? {
        func change(_ logarithm: Double) -> Double { Foundation.exp(logarithm) - 1 }
        let points = series.points.enumerated().map { Plot.Point(Double($0.offset + 1), change($0.element.logRatio)) }
        let bars = series.points.enumerated().flatMap { index, point -> [Plot.Point] in
            guard let low = point.low, let high = point.high else { return [] }
            return [Plot.Point(Double(index + 1), change(low)), Plot.Point(Double(index + 1), change(high))]
        }
        let all = points.map(\.y) + bars.map(\.y)
        let breaks = series.breaks.flatMap {
            [Plot.Point(Double($0.index) + 0.5, all.min()!), Plot.Point(Double($0.index) + 0.5, all.max()!)]
        }
        return Plot(
            title: "\(series.name)", caption: "Against the anchor build, which ran beside each. Upright: a break.",
            xLabel: "commit", yLabel: "change against the anchor", x: .plain(isLogarithmic: false), y: .change,
            series: [
                .init(nil, 1, .line, points), .init(nil, 8, .segments, bars), .init("break", 2, .segments, breaks),
            ]
        ).drawable()
    }
}
