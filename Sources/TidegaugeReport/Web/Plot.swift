// A plot before rendering. Labels and titles contain names from outside, which are escaped when written. Plain values.

struct Plot: Sendable, Equatable {
    /// Kind of an axis, which decides the scale and the labels.
    enum Axis: Sendable, Equatable {
        /// Seconds, as ns, µs, ms or s.
        case seconds(isLogarithmic: Bool)
        case plain(isLogarithmic: Bool)
        /// 1 / (1 − p), labelled with percentiles.
        case percentile
        /// A relative change of either sign, in per cent.
        case change
        /// Row numbers, with 1 at the top.
        case rows

        var isLogarithmic: Bool {
            switch self {
            case .seconds(let isLogarithmic), .plain(let isLogarithmic): isLogarithmic
            case .percentile: true
            case .change, .rows: false
            }
        }
    }

    enum Style: Sendable, Equatable {
        case line, points, dashed
        /// Each pair of points is a line segment.
        case segments
    }

    struct Point: Sendable, Equatable {
        var x: Double
        var y: Double

        init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
    }

    struct Series: Sendable, Equatable {
        /// Text in the legend; nil: no entry.
        var label: String?
        /// Number of the curve, from 1. The legend shows and hides the series with this number.
        var slot: Int
        /// Colour, from 1.
        var colour: Int
        /// Pattern of a line, from 0, which is solid.
        var dash: Int
        var style: Style
        var points: [Point]

        init(
            _ label: String?, _ slot: Int, colour: Int? = nil, dash: Int = 0, _ style: Style, _ points: [Point]
        ) {
            (self.label, self.slot, self.colour, self.dash) = (label, slot, colour ?? slot, dash)
            (self.style, self.points) = (style, points)
        }
    }

    /// Number of colours. Further series are not distinguishable.
    static let slots = 8
    /// Number of patterns of lines.
    static let dashes = 4

    var title: String
    var caption: String
    var xLabel: String
    var yLabel: String
    var x: Axis
    var y: Axis
    var series: [Series]

    /// Returns the plot without points that its axes cannot show, or nil if none remain.
    func drawable() -> Plot? {
        var plot = self
        plot.series = series.compactMap { series in
            var series = series
            series.points = series.points.filter { point in
                point.x.isFinite && point.y.isFinite && !(x.isLogarithmic && point.x <= 0)
                    && !(y.isLogarithmic && point.y <= 0)
            }
            return series.points.isEmpty ? nil : series
        }
        return plot.series.isEmpty ? nil : plot
    }
}
