// What a metric asks of a scenario, and how its figures are named. Beside `Metric`, so that the vocabulary stays a list.

extension Metric {
    /// Recorded sample by sample (over time, for `staleness` and `version_lag`): has percentiles and no single `value`.
    public var isDistribution: Bool {
        switch self {
        case .scheduleDelay, .writeServiceTime, .writeResponseTime, .lockWait, .deliveryLatency, .endToEndLatency,
            .callbackTime, .staleness, .versionLag, .batchSpan, .timeToFirstDelivery, .fanoutSpan, .harnessHiccup:
            true
        case .coalescingRatio, .spuriousNotifications, .missedFinal, .fanoutCost, .upkeepCost, .upkeepExponent,
            .writerCPU, .upkeepCPU, .observerCPU, .otherCPU, .processCPU, .achievedRate, .harnessCost,
            .oracleViolations, .trialOutcome:
            false
        }
    }

    /// The statistic meant where a limit names none: `value` where the metric is one number, else `p50`.
    public var defaultStatistic: String { isDistribution ? "p50" : "value" }

    /// Says nothing where nobody watches.
    public var needsObservers: Bool {
        switch self {
        case .scheduleDelay, .writeServiceTime, .writeResponseTime, .lockWait, .writerCPU, .upkeepCPU, .otherCPU,
            .processCPU, .achievedRate, .harnessHiccup, .harnessCost, .oracleViolations, .trialOutcome:
            false
        case .deliveryLatency, .endToEndLatency, .callbackTime, .staleness, .versionLag, .coalescingRatio, .batchSpan,
            .spuriousNotifications, .missedFinal, .timeToFirstDelivery, .fanoutSpan, .fanoutCost, .upkeepCost,
            .upkeepExponent, .observerCPU:
            true
        }
    }

    /// The settings one of which a sweep must vary for an over-the-sweep metric; empty for all others.
    var neededSweep: [Setting] {
        switch self {
        case .upkeepExponent: [.items]
        case .fanoutCost: [.observerCount, .bystanders]
        default: []
        }
    }
}
