// The table of renamed words. A scenario or an option that contains a former word is refused with the new one. Recorded
// metrics and variants of older versions are read with the new ones. Binaries of older commits get the former names of
// drivers and metrics.

package enum RenamedWords {
    /// Former names by new names, keyed by the spec version that renamed them.
    package typealias ByVersion = [Int: [String: String]]

    package static let drivers: ByVersion = [13: ["stillingwell": "livestore"]]
    package static let metrics: ByVersion = [
        14: ["missed_commits": "unmade_commits", "interleaving_test_time": "choreography_time"]
    ]
    /// New scenario names by former ones.
    package static let scenarios = ["bystanders": "idle-queries"]
    /// New paths of settings by former ones.
    package static let settings: [String: Setting] = [
        "dataset.neighbour": .coTenant, "observers.bystanders": .idleQueries, "observers.pins": .heldSnapshots,
        "observers.operators": .publisherChainLength, "writers.on": .onTime, "writers.off": .offTime,
    ]
    /// New words by former ones, for other words of a scenario file. Some YAML parsers read `on`, `off` and `null` as
    /// booleans or null.
    private static let others = ["null": ["noop"], "on": ["runs_on"], "meet": ["barrier"]]

    /// New words by former ones, of all kinds. A setting has an entry for its path and one for its last part.
    package static let all: [String: [String]] = {
        var all = others
        for (former, setting) in settings {
            let path = setting.rawValue
            all[former, default: []].append(path)
            all[last(of: former), default: []].append(last(of: path))
        }
        for (former, new) in scenarios { all[former, default: []].append(new) }
        for (new, former) in (drivers.values.map { $0 } + metrics.values).joined() {
            all[former, default: []].append(new)
        }
        return all
    }()

    private static func last(of path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }

    /// Returns the name that binaries with specs of `version` know.
    package static func name(_ name: String, in renamed: ByVersion, version: Int) -> String {
        renamed.filter { $0.key > version }.sorted { $0.key > $1.key }.reduce(name) { $1.value[$0] ?? $0 }
    }

    /// Returns a recorded variant with the present paths of its settings, sorted: `observers.idle_queries=1` for
    /// `observers.bystanders=1`.
    package static func variant(_ recorded: String) -> String {
        guard settings.keys.contains(where: recorded.contains) else { return recorded }
        let values = recorded.split(separator: ";").map { part -> (path: String, value: Substring) in
            let path = part.prefix { $0 != "=" }
            return (settings[String(path)]?.rawValue ?? String(path), part.dropFirst(path.count))
        }
        return values.sorted { $0.path < $1.path }.map { $0.path + $0.value }.joined(separator: ";")
    }
}

extension Metric {
    private static let former = Dictionary(
        uniqueKeysWithValues: RenamedWords.metrics.values.joined().map { ($0.value, $0.key) })

    /// Returns the metric of a recorded name, which may be a former one.
    public init?(recorded name: String) { self.init(rawValue: Self.former[name] ?? name) }
}

extension Metric {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let metric = Metric(recorded: name) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown metric '\(name)'")
        }
        self = metric
    }
}
