// A picture before it is drawn. Names from outside stand in its labels and its title, and are escaped where they are written.
// Plain values.

struct Plot: Sendable, Equatable {
    /// What the numbers of an axis are, and how they are written.
    enum Axis: Sendable, Equatable {
        /// Seconds, as ns, µs, ms or s.
        case seconds(isLogarithmic: Bool)
        case plain(isLogarithmic: Bool)
        /// 1 / (1 − p), labelled by percentile.
        case percentile
        /// A change as a share, of either sign, written in per cent.
        case change
        /// Numbers of rows, from 1 at the top.
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
        /// Each two points are the ends of a stroke.
        case segments
    }

    struct Point: Sendable, Equatable {
        var x: Double
        var y: Double

        init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
    }

    struct Series: Sendable, Equatable {
        /// In the legend; nil: belongs to the series before.
        var label: String?
        /// Colour, from 1.
        var slot: Int
        var style: Style
        var points: [Point]

        init(_ label: String?, _ slot: Int, _ style: Style, _ points: [Point]) {
            (self.label, self.slot, self.style, self.points) = (label, slot, style, points)
        }
    }

    /// Colours there are; more series than this are not told apart.
    static let slots = 8

    var title: String
    var caption: String
    var xLabel: String
    var yLabel: String
    var x: Axis
    var y: Axis
    var series: [Series]

    /// Without what its axes cannot show; nil where nothing is left.
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
