// A plot in the language of gnuplot. Only numbers and words of this file's own go in. Pure.
import Glibc

enum PlotScript {
    /// Colours are numbers that `SVGTheme` turns into classes, so that a page can be light or dark.
    static func text(_ plot: Plot) -> String {
        var lines = ["reset", "set border 3", "set tics nomirror out scale 0.6", "set grid back", "unset key"]
        lines += axis("x", plot.x, plot.series.flatMap { $0.points.map(\.x) })
        lines += axis("y", plot.y, plot.series.flatMap { $0.points.map(\.y) })
        lines.append("set xlabel '\(plot.xLabel)\(plot.x == .change ? " (%)" : "")'")
        lines.append("set ylabel '\(plot.yLabel)\(plot.y == .change ? " (%)" : "")'")
        // Shares as the per cent that an axis of changes shows.
        let (xScale, yScale) = (plot.x == .change ? 100.0 : 1, plot.y == .change ? 100.0 : 1)
        for (index, series) in plot.series.enumerated() {
            let points = series.points.map { Plot.Point($0.x * xScale, $0.y * yScale) }
            lines.append("$d\(index) << EOD")
            lines += series.style == .segments ? strokes(points) : points.map(place)
            lines.append("EOD")
        }
        let curves = plot.series.enumerated().map { index, series in
            let color = "lc rgb '#0000" + (series.slot < 16 ? "0" : "") + String(series.slot, radix: 16) + "'"
            switch series.style {
            case .line where series.points.count > 1: return "$d\(index) with lines \(color) lw 1.8"
            case .line, .points: return "$d\(index) with points \(color) pt 7 ps 0.6"
            case .segments: return "$d\(index) with vectors nohead \(color) lw 1.8"
            case .dashed: return "$d\(index) with lines \(color) lw 1.2 dt (6,4)"
            }
        }
        lines.append("plot " + curves.joined(separator: ", "))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func place(_ point: Plot.Point) -> String { "\(number(point.x)) \(number(point.y))" }

    /// From where, and how far.
    private static func strokes(_ points: [Plot.Point]) -> [String] {
        stride(from: 0, to: points.count - 1, by: 2).map { index in
            let (from, to) = (points[index], points[index + 1])
            return "\(place(from)) \(number(to.x - from.x)) \(number(to.y - from.y))"
        }
    }

    private static func axis(_ name: String, _ axis: Plot.Axis, _ values: [Double]) -> [String] {
        var lines: [String] = []
        if axis.isLogarithmic { lines.append("set logscale \(name)") }
        lines.append("set \(name)range \(range(axis, values))")
        switch axis {
        case .seconds(let isLogarithmic): lines.append("set format \(name) '%.\(isLogarithmic ? 0 : 1)s %cs'")
        case .plain(let isLogarithmic):
            lines.append("set format \(name) '\(isLogarithmic && span(values) > 2 ? "%.0s%c" : "%g")'")
        case .change: lines.append("set format \(name) '%+g'")
        case .rows: lines.append("set \(name)tics 1")
        case .percentile:
            let ticks = ["", "90", "99", "99.9", "99.99", "99.999"].enumerated().map { power, text in
                "'\(text)' 1e\(power)"
            }
            lines.append("set \(name)tics (\(ticks.joined(separator: ", ")), '50' 2)")
        }
        return lines
    }

    /// Whole decades on a logarithmic axis, so that it always has two labels; from 0 on others.
    private static func range(_ axis: Plot.Axis, _ values: [Double]) -> String {
        guard let lowest = values.min(), let highest = values.max() else { return "[*:*]" }
        // The first row on top; changes with their zero in sight and some air.
        if axis == .rows { return "[\(number(highest)):\(number(lowest))]" }
        if axis == .change {
            let air = max(highest - lowest, 0.01) * 0.08
            return "[\(number(100 * min(lowest - air, 0))):\(number(100 * max(highest + air, 0)))]"
        }
        guard axis.isLogarithmic else { return highest > 0 ? "[0:\(number(highest * 1.08))]" : "[*:*]" }
        let low = pow(10, floor(log10(lowest)))
        let high = pow(10, ceil(log10(highest)))
        return "[\(number(low)):\(number(high > low ? high : low * 10))]"
    }

    private static func span(_ values: [Double]) -> Double {
        guard let lowest = values.min(), let highest = values.max(), lowest > 0 else { return 0 }
        return log10(highest / lowest)
    }

    /// Nine digits are more than a picture shows.
    private static func number(_ value: Double) -> String {
        guard value != 0 else { return "0" }
        let scale = pow(10, 8 - floor(log10(abs(value))))
        let rounded = (value * scale).rounded() / scale
        return "\(rounded.isFinite ? rounded : value)"
    }
}
