// Statistics that the figures of each metric have. A limit on another statistic is refused.

extension Metric {
    /// Statistics of the metric's figures, in the order of `Statistic`. `ProviderTests` compares them with the providers.
    public var statistics: [Statistic] {
        let ofShape: [Statistic] =
            switch entry.shape {
            case .distribution: Self.ofDistributions
            case .number: [.value]
            case .bracket: [.low, .high]
            }
        let own = ofShape + Self.further[self, default: []]
        return Statistic.allCases.filter(own.contains)
    }

    /// Unit of a statistic of the metric. A number of samples has none.
    public func unit(of statistic: String) -> MetricEntry.Unit {
        statistic == Statistic.count.rawValue ? .one : entry.unit
    }

    private static let ofDistributions =
        Statistic.allCases.filter { $0.tailDenominator != nil } + [.min, .max, .mean, .count]

    /// Statistics that are not those of the metric's shape.
    private static let further: [Metric: [Statistic]] = [
        .staleness: [.slope], .versionLag: [.slope], .liveBytes: [.max, .slope], .residentBytes: [.max, .slope],
        .fileBytes: [.max, .slope], .openFiles: [.max, .slope], .activeVersions: [.max], .fanoutCost: [.low],
    ]
}
