// A sweep: the points at which a scenario is measured. A map is a cartesian product, a list of maps their union. Pure.
import TidegaugeSpec

struct Sweep {
    /// A map: settings in the written order, each with its values. A setting whose values were all refused is left out.
    struct Product {
        var axes: [(setting: Setting, values: [GivenValue])]

        /// Calls `body` with every combination, the last axis varying fastest, without storing them.
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

    /// Maximum number of points.
    static let maximumPoints = 10_000

    var products: [Product]
    var place: ScenarioProblem.Place
    /// False if a key or a value was refused, so that its coverage is unknown.
    var isComplete = true

    /// All settings that any map varies, in key order: the parts of a variant.
    var settings: [Setting] { Set(products.flatMap { $0.axes.map(\.setting) }).sorted { $0.rawValue < $1.rawValue } }

    /// Distinct values of `setting` in the sweep. A map without the setting contributes its value in `base`.
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

    /// Number of points including duplicates, or `maximumPoints` + 1 if there are more. Uses only lengths.
    var pointCount: Int {
        let most = Self.maximumPoints + 1
        return products.reduce(0) { total, product in
            // An axis without a valid value counts as one value.
            let size = product.axes.reduce(1) { min($0 * min(max($1.values.count, 1), most), most) }
            return min(total + size, most)
        }
    }

    /// Returns the points in the written order, the last key of a map varying fastest, without duplicates. Settings
    /// in `pinned` keep their value in `base`.
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

    /// Text such as `dataset.items=100000;observers.count=100`: sorted keys and canonical values.
    private static func variant(of settings: Settings, _ columns: [Setting]) -> String {
        columns.map { "\($0.rawValue)=\(settings.value($0)?.text ?? "none")" }.joined(separator: ";")
    }
}
