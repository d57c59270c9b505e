// What a metric asks of a scenario, and how its figures are named. Beside `Metric`, so that the vocabulary stays a list.

extension Metric {
    /// Recorded sample by sample (over time, for `staleness` and `version_lag`): has percentiles and no single `value`.
    public var isDistribution: Bool {
        switch self {
        case .scheduleDelay, .writeServiceTime, .writeResponseTime, .lockWait, .deliveryLatency,
            .lastDeliveryLatency, .endToEndLatency, .writeToCallback, .wakeFloor, .callbackTime, .staleness,
            .versionLag, .batchSpan, .timeToFirstDelivery,
            .observerStall, .fanoutSpan, .recoveryTime, .harnessHiccup:
            true
        case .deliveryOverFloor, .coalescingRatio, .spuriousNotifications, .missedFinal, .fanoutCost, .upkeepCost,
            .upkeepExponent, .upkeepGrowth, .upkeepRatio, .observedRateRatio, .objectRate, .writerShareMin, .writerCPU,
            .upkeepCPU,
            .observerCPU, .otherCPU, .processCPU, .achievedRate, .harnessCost, .scheduleStarted, .writerPenalty,
            .upkeepAllocations, .upkeepBytes, .writerBytes, .observerBytes, .engineBytes, .unsubscribedCost,
            .sustainableRate, .kneeRate, .spaceAmplification, .activeVersions, .liveBytes, .residentBytes, .fileBytes,
            .openFiles, .failedCommits, .voidedTrials,
            .recordingCost,
            .recordingBytes, .oracleCost, .faultsCaught, .slowdownSeen, .stallSeen, .oracleViolations,
            .hangDetectionTime, .choreographyTime,
            .trialOutcome:
            false
        }
    }

    /// The statistic meant where a limit names none: `value` where the metric is one number, `low` where it is a bracket,
    /// else `p50`.
    public var defaultStatistic: String {
        if self == .sustainableRate { return "low" }
        return isDistribution ? "p50" : "value"
    }

    /// Says nothing where nobody watches.
    public var needsObservers: Bool {
        switch self {
        case .scheduleDelay, .writeServiceTime, .writeResponseTime, .lockWait, .writerCPU, .upkeepCPU, .otherCPU,
            .processCPU, .achievedRate, .objectRate, .writerShareMin, .wakeFloor, .harnessHiccup, .harnessCost,
            .scheduleStarted, .writerBytes, .engineBytes, .spaceAmplification, .activeVersions, .liveBytes,
            .residentBytes,
            .fileBytes, .openFiles, .recoveryTime,
            .failedCommits, .voidedTrials, .recordingCost, .recordingBytes, .oracleCost, .faultsCaught, .slowdownSeen,
            .stallSeen,
            .oracleViolations, .hangDetectionTime, .choreographyTime, .trialOutcome:
            false
        case .deliveryLatency, .lastDeliveryLatency, .endToEndLatency, .writeToCallback, .deliveryOverFloor,
            .callbackTime, .staleness,
            .versionLag, .coalescingRatio, .batchSpan,
            .spuriousNotifications, .missedFinal, .timeToFirstDelivery, .observerStall, .fanoutSpan, .fanoutCost,
            .upkeepCost, .upkeepExponent, .upkeepGrowth, .upkeepRatio, .observedRateRatio, .observerCPU, .observerBytes,
            .writerPenalty, .upkeepAllocations, .upkeepBytes, .unsubscribedCost, .sustainableRate, .kneeRate:
            true
        }
    }

    /// The settings one of which a sweep must vary for an over-the-sweep metric; empty for all others.
    var neededSweep: [Setting] {
        switch self {
        case .upkeepExponent: [.items]
        case .fanoutCost: [.observerCount, .bystanders]
        case .upkeepGrowth: [.items, .observerCount, .bystanders]
        case .sustainableRate, .kneeRate: [.rate]
        default: []
        }
    }

    /// Why the values of a point do not carry the metric, as the end of a sentence; nil where they do, and for what is
    /// checked elsewhere (observers, sweeps).
    func obstacle(_ settings: Settings) -> String? {
        switch self {
        case .wakeFloor, .deliveryOverFloor:
            let isPaced = settings.word(.load) == WritersSpec.Load.open.rawValue
            let isBursts = settings.word(.arrivals) == WritersSpec.Arrivals.bursts.rawValue
            if !isPaced || isBursts || settings.integer(.writerThreads) > 1 {
                return "needs gaps to measure in: 'load: open', one writer, and no 'arrivals: bursts'"
            }
            let isRunLoop = settings.word(.deliver) == ObserversSpec.Deliver.runLoop.rawValue
            return isRunLoop ? nil : "wakes a run loop to compare with: it needs 'deliver: run-loop'"
        case .observerStall:
            let isCalling = settings.word(.calls) != ObserversSpec.Calls.none.rawValue
            return isCalling ? nil : "needs a call that can stall: 'observers.calls' is 'none'"
        case .writerShareMin:
            return settings.integer(.writerThreads) > 1 ? nil : "needs two or more 'writers.threads' to compare"
        case .objectRate:
            let isClosed = settings.word(.load) == WritersSpec.Load.closed.rawValue
            return isClosed ? nil : "asks for what is possible, not for what was scheduled: it needs 'load: closed'"
        case .scheduleStarted, .sustainableRate, .kneeRate:
            let isOpen = settings.word(.load) == WritersSpec.Load.open.rawValue
            return isOpen ? nil : "asks how a schedule was kept: it needs 'load: open'"
        case .unsubscribedCost:
            let isCancelled = settings.word(.subscribe) == ObserversSpec.Subscribe.cancelled.rawValue
            return isCancelled ? nil : "is what is left when all have gone: it needs 'observers.subscribe: cancelled'"
        case .recoveryTime:
            let needs: [FaultSpec.Kind] = [.writerKilled, .writerStopped]
            return needs.contains(settings.fault.kind)
                ? nil : "needs something to recover from: a 'fault.kind' of writer-killed or writer-stopped"
        case .faultsCaught:
            return settings.fault.kind.mustBeCaught ? nil : "needs a 'fault.kind' of loss or reorder"
        case .stallSeen:
            let isEven = settings.word(.arrivals) == WritersSpec.Arrivals.uniform.rawValue
            return settings.fault.kind == .stall && isEven
                ? nil : "needs a 'fault.kind' of stall and even arrivals, for which it can be predicted"
        case .slowdownSeen:
            return settings.fault.kind == .slowdown ? nil : "needs a 'fault.kind' of slowdown"
        default: return nil
        }
    }

    /// Of what the process holds, looked at again and again while the load runs.
    public var isHolding: Bool {
        switch self {
        case .liveBytes, .residentBytes, .fileBytes, .openFiles: true
        default: false
        }
    }

    /// Needs the counters of the allocator.
    public var countsAllocations: Bool {
        switch self {
        case .upkeepAllocations, .upkeepBytes, .writerBytes, .observerBytes, .engineBytes: true
        default: false
        }
    }
}
