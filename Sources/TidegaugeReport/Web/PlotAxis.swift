// An axis of a plot: range, ticks and labels. Pure.
import Foundation

struct PlotAxis: Equatable {
    struct Tick: Equatable {
        var value: Double
        var text: String
    }

    let kind: Plot.Axis
    let low: Double
    let high: Double

    /// Chooses a range that includes all values.
    init(_ kind: Plot.Axis, _ values: [Double]) {
        self.kind = kind
        let lowest = values.min() ?? 0
        let highest = values.max() ?? 1
        switch kind {
        case .rows: (low, high) = (lowest, max(highest, lowest + 1))
        // The range includes 0 and a margin of 8 %.
        case .change:
            let air = max(highest - lowest, 0.01) * 0.08
            (low, high) = (min(lowest - air, 0), max(highest + air, 0))
        case .seconds(isLogarithmic: true), .plain(isLogarithmic: true), .percentile:
            // Whole decades, so that there are at least two labels.
            let from = pow(10, floor(log10(lowest)))
            let until = pow(10, ceil(log10(highest)))
            (low, high) = (from, until > from ? until : from * 10)
        case .seconds(isLogarithmic: false), .plain(isLogarithmic: false):
            let from = min(0, lowest * 1.08)
            let until = max(0, highest * 1.08)
            (low, high) = (from, until > from ? until : from + 1)
        }
    }

    /// Position of a value: 0 at `low`, 1 at `high`.
    func share(_ value: Double) -> Double {
        kind.isLogarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
    }

    var ticks: [Tick] {
        switch kind {
        case .rows:
            stride(from: low.rounded(), through: high, by: max(1, ((high - low) / 20).rounded(.up)))
                .map { Tick(value: $0, text: String(format: "%g", $0)) }
        case .percentile:
            decades.map { Tick(value: $0, text: Self.percentile($0)) }.inserting(
                Tick(value: 2, text: "50"))
        case .seconds: values.map { Tick(value: $0, text: Self.seconds($0)) }
        case .plain: values.map { Tick(value: $0, text: Self.plain($0)) }
        case .change: values.map { Tick(value: $0, text: Self.change($0)) }
        }
    }

    private var values: [Double] { kind.isLogarithmic ? decades : steps }

    /// Powers of ten, at most seven; for a single decade also its 2 and 5.
    private var decades: [Double] {
        let powers = Array(Int(log10(low).rounded())...Int(log10(high).rounded()))
        if powers.count == 2, kind != .percentile { return [1, 2, 5, 10].map { $0 * low } }
        let every = (powers.count + 6) / 7
        return powers.enumerated().filter { $0.offset % every == 0 }.map { pow(10, Double($0.element)) }
    }

    /// Multiples of 1, 2 or 5 times a power of ten, about six.
    private var steps: [Double] {
        let rough = (high - low) / 6
        let magnitude = pow(10, floor(log10(rough)))
        let step = [1, 2, 5, 10].map { $0 * magnitude }.first { $0 >= rough * 0.999 } ?? rough
        return (Int((low / step).rounded(.up))...Int((high / step).rounded(.down))).map { Double($0) * step }
    }

    // MARK: Labels; the page's script formats other values similarly.

    /// - Parameter value: 1 / (1 − p).
    private static func percentile(_ value: Double) -> String {
        value <= 1 ? "0" : String(format: "%.6g", 100 * (1 - 1 / value))
    }

    private static func seconds(_ value: Double) -> String {
        let units: [(Double, String)] = [(1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
        guard value != 0, let (size, name) = units.first(where: { abs(value) >= $0.0 * 0.9999 }) else {
            return value == 0 ? "0" : String(format: "%.3g", value) + " s"
        }
        return String(format: "%.4g", value / size) + " " + name
    }

    private static func plain(_ value: Double) -> String {
        switch abs(value) {
        case 999_999...: String(format: "%.4gM", value / 1e6)
        case 9_999...: String(format: "%.4gk", value / 1e3)
        default: String(format: "%.4g", value)
        }
    }

    private static func change(_ value: Double) -> String {
        let percent = abs(value) < 1e-9 ? 0 : value * 100
        return String(format: percent == 0 ? "%.3g" : "%+.3g", percent) + " %"
    }
}

extension [PlotAxis.Tick] {
    fileprivate func inserting(_ tick: PlotAxis.Tick) -> [PlotAxis.Tick] {
        (self + [tick]).sorted { $0.value < $1.value }
    }
}

extension Plot.Axis {
    /// Name of the axis in the page's script.
    var word: String {
        switch self {
        case .seconds: "seconds"
        case .plain: "plain"
        case .percentile: "percentile"
        case .change: "change"
        case .rows: "rows"
        }
    }
}
