// A figure over pairs, on a scale that is valid for all of them, so that no pair is left out for its values. Pure.
import TidegaugeStatistics

struct PairedFigure: Sendable {
    let name: FigureName
    let criterion: Criterion
    /// Effect of each pair that has the figure: the mean over its points with equal weights.
    let worsening: [Double]
    let effect: PairedEffect?

    /// - Parameter point: a single point; nil: all points together.
    init(_ name: FigureName, _ pairs: [PairRecord], point: Int? = nil) {
        let values = pairs.compactMap { $0.values(name, point: point) }
        let criterion = Criterion(name).fitting(values.joined().flatMap { [$0.base, $0.head] })
        (self.name, self.criterion) = (name, criterion)
        worsening = values.compactMap { points in
            mean(points.compactMap { criterion.worsening(base: $0.base, head: $0.head) })
        }
        effect = PairedEffect(worsening)
    }
}

extension PairRecord {
    /// Returns both sides' values of a figure at all points or at one, or nil if a point lacks it.
    func values(_ name: FigureName, point: Int? = nil) -> [(base: Double, head: Double)]? {
        let meant = point.map { [points[$0]] } ?? points
        let known = meant.compactMap { point -> (base: Double, head: Double)? in
            guard let base = point.base.value(name), let head = point.head.value(name) else { return nil }
            return (base, head)
        }
        return known.count == meant.count && !known.isEmpty ? known : nil
    }
}
