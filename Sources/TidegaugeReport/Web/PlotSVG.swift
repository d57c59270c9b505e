// Renders a plot as an SVG element. Curves are in an inner area of 10,000 × 10,000 units, which the page's script
// zooms and reads values from. Colours are classes, for light and dark pages. Pure; equal plots give equal text.
import Foundation

enum PlotSVG {
    /// Sizes of the whole plot and of the inner area.
    static let size = (width: 420.0, height: 270.0)
    static let area = (x: 62.0, y: 8.0, width: 336.0, height: 212.0)
    /// Units of the inner area per axis: a resolution of four digits.
    static let units = 10_000.0

    static func text(_ plot: Plot) -> String {
        let x = PlotAxis(plot.x, plot.series.flatMap { $0.points.map(\.x) })
        let y = PlotAxis(plot.y, plot.series.flatMap { $0.points.map(\.y) })
        // Row 1 is at the top.
        let isDown = plot.y == .rows
        func place(_ point: Plot.Point) -> String {
            let up = y.share(point.y)
            return "\(Int((x.share(point.x) * units).rounded())) \(Int(((isDown ? up : 1 - up) * units).rounded()))"
        }
        var lines = [
            "<svg class=\"plot\" viewBox=\"0 0 \(Int(size.width)) \(Int(size.height))\" role=\"img\" "
                + "aria-label=\"\(Escaped.xml(summary(plot)))\" \(data("x", x)) \(data("y", y))\(isDown ? " data-down=\"\"" : "")>"
        ]
        lines.append("<g class=\"ticks x\">" + x.ticks.map { xTick($0, x) }.joined() + "</g>")
        lines.append("<g class=\"ticks y\">" + y.ticks.map { yTick($0, y, isDown) }.joined() + "</g>")
        let (width, height) = (Int(area.width), Int(area.height))
        lines.append(
            "<svg class=\"area\" x=\"\(Int(area.x))\" y=\"\(Int(area.y))\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(Int(units)) \(Int(units))\" preserveAspectRatio=\"none\">")
        lines += plot.series.map { series in
            "<path class=\"p\(series.slot) \(style(series)) k\(series.colour)\(series.dash > 0 ? " d\(series.dash)" : "")\" d=\"\(path(series, place))\"/>"
        }
        lines.append("</svg>")
        let bottom = Int(size.height) - 6
        lines.append(
            "<text class=\"axis\" x=\"\(Int(area.x + area.width / 2))\" y=\"\(bottom)\" text-anchor=\"middle\">\(Escaped.xml(plot.xLabel))</text>"
        )
        let middle = Int(area.y + area.height / 2)
        lines.append(
            "<text class=\"axis\" transform=\"translate(12 \(middle)) rotate(-90)\" text-anchor=\"middle\">\(Escaped.xml(plot.yLabel))</text>"
        )
        return lines.joined(separator: "\n") + "\n</svg>"
    }

    /// Accessible description: the title, and the number of points of each curve with a label.
    private static func summary(_ plot: Plot) -> String {
        let curves = plot.series.compactMap { series in
            series.label.map { "\($0): \(series.points.count) points" }
        }
        return ([plot.title] + curves).joined(separator: ". ")
    }

    private static func data(_ name: String, _ axis: PlotAxis) -> String {
        "data-\(name)=\"\(axis.kind.word) \(axis.kind.isLogarithmic ? "log" : "linear") \(axis.low) \(axis.high)\""
    }

    private static func style(_ series: Plot.Series) -> String {
        switch series.style {
        case .line: series.points.count > 1 ? "line" : "points"
        case .points: "points"
        case .dashed: "dashed"
        case .segments: "line"
        }
    }

    /// Points are drawn as zero-length strokes with round caps.
    private static func path(_ series: Plot.Series, _ place: (Plot.Point) -> String) -> String {
        let places = series.points.map(place)
        switch series.style {
        case .points: return places.map { "M\($0)h0" }.joined()
        case .line where places.count == 1: return "M\(places[0])h0"
        case .line, .dashed: return "M" + withoutRepeats(places).joined(separator: "L")
        case .segments:
            return stride(from: 0, to: places.count - 1, by: 2).map { "M\(places[$0])L\(places[$0 + 1])" }.joined()
        }
    }

    /// Removes points at the same position as their predecessor.
    private static func withoutRepeats(_ places: [String]) -> [String] {
        places.enumerated().filter { $0.offset == 0 || places[$0.offset - 1] != $0.element }.map(\.element)
    }

    private static func xTick(_ tick: PlotAxis.Tick, _ axis: PlotAxis) -> String {
        let x = number(area.x + axis.share(tick.value) * area.width)
        let bottom = Int(area.y + area.height)
        return "<path d=\"M\(x) \(Int(area.y))V\(bottom)\"/>"
            + "<text x=\"\(x)\" y=\"\(bottom + 16)\" text-anchor=\"middle\">\(Escaped.xml(tick.text))</text>"
    }

    private static func yTick(_ tick: PlotAxis.Tick, _ axis: PlotAxis, _ isDown: Bool) -> String {
        let up = axis.share(tick.value)
        let y = area.y + (isDown ? up : 1 - up) * area.height
        return "<path d=\"M\(Int(area.x)) \(number(y))H\(Int(area.x + area.width))\"/>"
            + "<text x=\"\(Int(area.x) - 6)\" y=\"\(number(y + 4))\" text-anchor=\"end\">\(Escaped.xml(tick.text))</text>"
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value).replacing(/\.0$/, with: "") }
}
