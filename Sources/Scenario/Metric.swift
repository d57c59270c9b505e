// The vocabulary of what is measured. A scenario file may name nothing else; MEASURES in Reports/README.md holds the
// full definitions. Over-the-sweep metrics are figures of several points and carry the variant `*`.

/// A metric by its name in files and reports.
public enum Metric: String, CaseIterable, Sendable, Codable {
    case scheduleDelay = "schedule_delay"
    case scheduleStarted = "schedule_started"
    case writeServiceTime = "write_service_time"
    case writeResponseTime = "write_response_time"
    case writerPenalty = "writer_penalty"
    case lockWait = "lock_wait"
    case deliveryLatency = "delivery_latency"
    case lastDeliveryLatency = "last_delivery_latency"
    case endToEndLatency = "end_to_end_latency"
    case writeToCallback = "write_to_callback"
    case wakeFloor = "wake_floor"
    case deliveryOverFloor = "delivery_over_floor"
    case callbackTime = "callback_time"
    case staleness
    case versionLag = "version_lag"
    case coalescingRatio = "coalescing_ratio"
    case batchSpan = "batch_span"
    case spuriousNotifications = "spurious_notifications"
    case missedFinal = "missed_final"
    case timeToFirstDelivery = "time_to_first_delivery"
    case observerStall = "observer_stall"
    case fanoutSpan = "fanout_span"
    case fanoutCost = "fanout_cost"
    case upkeepCost = "upkeep_cost"
    case upkeepExponent = "upkeep_exponent"
    case upkeepGrowth = "upkeep_growth"
    case upkeepRatio = "upkeep_ratio"
    case upkeepAllocations = "upkeep_allocations"
    case upkeepBytes = "upkeep_bytes"
    case writerBytes = "writer_bytes"
    case observerBytes = "observer_bytes"
    case engineBytes = "engine_bytes"
    case unsubscribedCost = "unsubscribed_cost"
    case writerCPU = "writer_cpu"
    case upkeepCPU = "upkeep_cpu"
    case observerCPU = "observer_cpu"
    case otherCPU = "other_cpu"
    case processCPU = "process_cpu"
    case achievedRate = "achieved_rate"
    case sustainableRate = "sustainable_rate"
    case kneeRate = "knee_rate"
    case observedRateRatio = "observed_rate_ratio"
    case objectRate = "object_rate"
    case writerShareMin = "writer_share_min"
    case spaceAmplification = "space_amplification"
    case activeVersions = "active_versions"
    case liveBytes = "live_bytes"
    case residentBytes = "resident_bytes"
    case fileBytes = "file_bytes"
    case openFiles = "open_files"
    case recoveryTime = "recovery_time"
    case failedCommits = "failed_commits"
    case harnessHiccup = "harness_hiccup"
    case harnessCost = "harness_cost"
    case voidedTrials = "voided_trials"
    case recordingCost = "recording_cost"
    case recordingBytes = "recording_bytes"
    case oracleCost = "oracle_cost"
    case faultsCaught = "faults_caught"
    case slowdownSeen = "slowdown_seen"
    case stallSeen = "stall_seen"
    case oracleViolations = "oracle_violations"
    case hangDetectionTime = "hang_detection_time"
    case choreographyTime = "choreography_time"
    /// 0 completed, 1 crashed, 2 killed, 3 hang, 4 oracle violation, 5 harness fault, 6 interrupted.
    case trialOutcome = "trial_outcome"

    /// As in the `unit` column.
    public var unit: String {
        switch self {
        case .scheduleDelay, .writeServiceTime, .writeResponseTime, .lockWait, .deliveryLatency,
            .lastDeliveryLatency, .endToEndLatency, .writeToCallback, .wakeFloor, .callbackTime, .staleness,
            .timeToFirstDelivery, .observerStall, .fanoutSpan, .recoveryTime, .harnessHiccup, .hangDetectionTime,
            .choreographyTime:
            "ns"
        case .versionLag, .activeVersions: "versions"
        case .coalescingRatio: "commits/callback"
        case .batchSpan: "commits"
        case .voidedTrials, .spuriousNotifications, .missedFinal, .failedCommits, .faultsCaught, .oracleViolations:
            "count"
        case .fanoutCost, .recordingCost: "ns/observer/commit"
        case .upkeepCost, .unsubscribedCost, .writerCPU, .upkeepCPU, .observerCPU, .otherCPU, .processCPU,
            .harnessCost, .oracleCost:
            "ns/commit"
        case .upkeepAllocations: "allocations/commit"
        case .upkeepBytes, .writerBytes, .observerBytes, .engineBytes: "bytes/commit"
        case .recordingBytes, .liveBytes, .residentBytes, .fileBytes: "bytes"
        case .openFiles: "files"
        case .deliveryOverFloor, .upkeepExponent, .upkeepGrowth, .upkeepRatio, .observedRateRatio, .writerShareMin,
            .scheduleStarted, .writerPenalty, .spaceAmplification, .slowdownSeen, .stallSeen, .trialOutcome:
            "1"
        case .achievedRate, .sustainableRate, .kneeRate: "commits/s"
        case .objectRate: "objects/s"
        }
    }

    /// A figure over the points of a sweep rather than of one trial.
    public var isOverSweep: Bool {
        switch self {
        case .fanoutCost, .upkeepExponent, .upkeepGrowth, .sustainableRate, .kneeRate: true
        default: false
        }
    }

    /// Needs a second trial without observers beside each measured one.
    public var needsBaseline: Bool {
        switch self {
        case .upkeepCost, .upkeepExponent, .upkeepGrowth, .upkeepRatio, .fanoutCost, .observedRateRatio, .writerPenalty,
            .upkeepAllocations, .upkeepBytes, .unsubscribedCost:
            true
        default: false
        }
    }

    /// Of threads that do nothing but wake one another, between the commits of the only writer.
    public var needsWakeProbe: Bool { self == .wakeFloor || self == .deliveryOverFloor }
}
