// A sweep: the points at which a scenario is measured. One map is a cartesian product, a list of maps their union. Pure.

struct Sweep {
    /// One map: settings in key order, and the values each takes.
    struct Product {
        var axes: [(setting: Setting, values: [GivenValue])]
    }

    /// More points than anybody waits for: a slip in a list, not a plan.
    static let maximumPoints = 10_000

    var products: [Product]
    var place: ScenarioProblem.Place
    /// False where a key or a value was refused when it was read: nothing can be said about what it covers.
    var isComplete = true

    /// All settings that any map varies, in key order: the columns of a variant.
    var settings: [Setting] {
        Set(products.flatMap { $0.axes.map(\.setting) }).sorted { $0.rawValue < $1.rawValue }
    }

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

    var pointCount: Int {
        products.reduce(0) { total, product in
            let size = product.axes.reduce(1) { size, axis in
                let (result, overflow) = size.multipliedReportingOverflow(by: axis.values.count)
                return overflow ? Self.maximumPoints + 1 : min(result, Self.maximumPoints + 1)
            }
            return min(total + size, Self.maximumPoints + 1)
        }
    }

    /// The points in the order written, the last key of a map varying fastest; each once, by the values in force.
    /// Settings of `pinned` keep the value of `base` throughout.
    func points(over base: Settings, pinned: Set<Setting> = []) -> [(variant: String, settings: Settings)] {
        var seen: Set<String> = []
        var points: [(variant: String, settings: Settings)] = []
        for product in products {
            var layers: [[Setting: GivenValue]] = [[:]]
            for axis in product.axes where !pinned.contains(axis.setting) {
                layers = layers.flatMap { layer in
                    axis.values.map { layer.merging([axis.setting: $0]) { _, new in new } }
                }
            }
            for layer in layers {
                let settings = base.overlaid(by: layer)
                let variant = Self.variant(of: settings, self.settings)
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
