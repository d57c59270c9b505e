// A sweep: the points at which a scenario is measured. One map is a cartesian product, a list of maps their union. Pure.
import TidegaugeSpec

struct Sweep {
    /// One map: settings in key order, and the values each takes, one or more.
    struct Product {
        var axes: [(setting: Setting, values: [GivenValue])]

        /// All combinations, one after the other, the last axis varying fastest; none of them is kept.
        func forEachPoint(without pinned: Set<Setting>, _ body: ([Setting: GivenValue]) -> Void) {
            let axes = axes.filter { !pinned.contains($0.setting) && !$0.values.isEmpty }
            var places = axes.map { _ in 0 }
            while true {
                body(
                    Dictionary(
                        zip(axes, places).map { ($0.setting, $0.values[$1]) }, uniquingKeysWith: { _, later in later }))
                guard let next = places.indices.last(where: { places[$0] + 1 < axes[$0].values.count }) else { return }
                places[next] += 1
                for index in places.indices where index > next { places[index] = 0 }
            }
        }
    }

    /// More points than anybody waits for: a slip in a list, not a plan.
    static let maximumPoints = 10_000

    var products: [Product]
    var place: ScenarioProblem.Place
    /// False where a key or a value was refused when it was read: nothing can be said about what it covers.
    var isComplete = true

    /// All settings that any map varies, in key order: the columns of a variant.
    var settings: [Setting] { Set(products.flatMap { $0.axes.map(\.setting) }).sorted { $0.rawValue < $1.rawValue } }

    /// Distinct values of `setting` over the sweep; a map that leaves it out adds the one in force.
    func values(of setting: Setting, over base: Settings) -> Set<SettingValue> {
        var values: Set<SettingValue> = []
        for product in products {
            if let axis = product.axes.first(where: { $0.setting == setting }) {
                values.formUnion(axis.values.map(\.value))
            } else if let value = base.value(setting) {
                values.insert(value)
            }
        }
        return values
    }

    /// At least as many as `points` will give; beyond `maximumPoints` one more than those. Looks at lengths alone.
    var pointCount: Int {
        let most = Self.maximumPoints + 1
        return products.reduce(0) { total, product in
            // An axis without a valid value takes none away: the others are still gone through.
            let size = product.axes.reduce(1) { min($0 * min(max($1.values.count, 1), most), most) }
            return min(total + size, most)
        }
    }

    /// The points in the order written, the last key of a map varying fastest; each once, by the values in force.
    /// Settings of `pinned` keep the value of `base` throughout.
    func points(over base: Settings, pinned: Set<Setting> = []) -> [(variant: String, settings: Settings)] {
        let columns = self.settings
        var seen: Set<String> = []
        var points: [(variant: String, settings: Settings)] = []
        for product in products {
            product.forEachPoint(without: pinned) { layer in
                let settings = base.overlaid(by: layer)
                let variant = Self.variant(of: settings, columns)
                if seen.insert(variant).inserted { points.append((variant, settings)) }
            }
        }
        return points
    }

    /// `dataset.items=100000;observers.count=100`: keys sorted, values canonical.
    private static func variant(of settings: Settings, _ columns: [Setting]) -> String {
        columns.map { "\($0.rawValue)=\(settings.value($0)?.text ?? "none")" }.joined(separator: ";")
    }
}
