// Metrics with a fixed name and their entries. CONTRIBUTING.md says what else a new metric needs.

/// A metric with a fixed name. Code names it by the constant of `Metric`.
public enum FixedMetric: String, CaseIterable, Sendable {
    case scheduleDelay = "schedule_delay"
    case scheduleStarted = "schedule_started"
    case missedCommits = "missed_commits"
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
    case instructionsExponent = "instructions_exponent"
    case instructionsGrowth = "instructions_growth"
    case upkeepRatio = "upkeep_ratio"
    case upkeepAllocations = "upkeep_allocations"
    case upkeepBytes = "upkeep_bytes"
    case writerBytes = "writer_bytes"
    case observerBytes = "observer_bytes"
    case engineBytes = "engine_bytes"
    case writerInstructions = "writer_instructions"
    case upkeepInstructions = "upkeep_instructions"
    case observerInstructions = "observer_instructions"
    case engineInstructions = "engine_instructions"
    case writerAllocations = "writer_allocations"
    case observerAllocations = "observer_allocations"
    case writerSystemCalls = "writer_system_calls"
    case upkeepSystemCalls = "upkeep_system_calls"
    case observerSystemCalls = "observer_system_calls"
    case writerReads = "writer_reads"
    case upkeepReads = "upkeep_reads"
    case observerReads = "observer_reads"
    case unsubscribedCost = "unsubscribed_cost"
    case writerCPU = "writer_cpu"
    case upkeepCPU = "upkeep_cpu"
    case observerCPU = "observer_cpu"
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
    case clockUncertainty = "clock_uncertainty"
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
    case interleavingTestTime = "interleaving_test_time"
    case trialOutcome = "trial_outcome"

    /// Static facts of the metric.
    public var entry: MetricEntry {
        switch self {
        case .scheduleDelay:
            .init(.ns, .clock, .distribution(of: .commits), "begin − due: lateness of the load generator itself")
        case .scheduleStarted:
            .init(
                .one, .clock, worse: .less, needs: [.setting(.schedule)],
                "share of the commits due in the measured window that began in it")
        case .missedCommits:
            .init(
                .count, .clock, needs: [.setting(.schedule)],
                "commits due in the measured window that were not made, because their writer was too late")
        case .writeServiceTime: .init(.ns, .processor, .distribution(of: .commits), "committed − begin")
        case .writeResponseTime:
            .init(
                .ns, .clock, .distribution(of: .commits),
                "committed − due, which includes waiting for other writers")
        case .writerPenalty:
            .init(
                .one, .clock, from: .companions, takes: [.writeServiceTime], needs: [.observers, .baseline],
                "median of `write_service_time` with subscriptions ÷ median without (paired trials)")
        case .lockWait: .init(.ns, .clock, .distribution(of: .commits), "locked − begin")
        case .deliveryLatency:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers], mayBeNegative: true,
                "enter of the covering delivery − committed; negative if the callback began before the commit "
                    + "returned, also in percentiles, mean and extremes")
        case .lastDeliveryLatency:
            .init(
                .ns, .clock, .distribution(of: .commits), needs: [.observers], mayBeNegative: true,
                "enter of the covering delivery − committed, for the observer that is called last; one sample per "
                    + "commit")
        case .endToEndLatency:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers], "enter of the covering delivery − due"
            )
        case .writeToCallback:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers],
                "enter of the covering delivery − begin")
        case .wakeFloor:
            .init(
                .ns, .clock, .distribution(of: .others), needs: [.wakeProbe, .setting(.gapsToWakeIn)], about: .harness,
                "time from waking a thread that sleeps on a futex to the call of a run loop that this thread then "
                    + "wakes: the path of a notification without a store. Measured halfway between commits, with "
                    + "threads that have slept as long")
        case .deliveryOverFloor:
            .init(
                .one, .clock, needs: [.observers, .wakeProbe, .setting(.gapsToWakeIn)],
                "median of `write_to_callback` ÷ median of `wake_floor`, both of one trial")
        case .callbackTime: .init(.ns, .clock, .distribution(of: .deliveries), needs: [.observers], "exit − enter")
        case .staleness:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers],
                "age of the oldest commit that is not covered, 0 if all are; a distribution over *time*, integrated "
                    + "without sampling; `n` counts commits")
        case .versionLag:
            .init(
                .versions, .clock, .distribution(of: .deliveries), needs: [.observers],
                "commits that have returned and are not covered; a distribution over time as well")
        case .coalescingRatio:
            .init(
                .commitsPerCallback, .clock, worse: .neither, needs: [.observers],
                "covered commits that affect the observer ÷ callbacks, including callbacks that cover none")
        case .batchSpan:
            .init(
                .commits, .clock, .distribution(of: .deliveries), worse: .neither, needs: [.observers],
                "commits covered per callback")
        case .spuriousNotifications:
            .init(.count, .event, needs: [.observers], "callbacks with the same data as the previous one")
        case .missedFinal:
            .init(
                .count, .event, needs: [.observers], isOwed: true,
                "observers whose last data differs from the store's final state; must be 0")
        case .timeToFirstDelivery:
            .init(
                .ns, .clock, .distribution(of: .observers), needs: [.observers],
                "enter of the first callback − the subscribe call")
        case .observerStall:
            .init(
                .ns, .clock, .distribution(of: .others), needs: [.observers, .setting(.calls)],
                "time for which an observing thread was blocked in the call of `observers.calls` right after a "
                    + "commit: in begin-write until it had the write lock, in refresh until it returned")
        case .fanoutSpan:
            .init(
                .ns, .clock, .distribution(of: .commits), needs: [.observers],
                "last − first enter over the observers of one commit")
        case .fanoutCost:
            .init(
                .nsPerObserverCommit, .clock, from: .sweep(over: [.observerCount, .idleQueries]),
                needs: [.observers, .baseline],
                "slope of process CPU per commit on the number of observers (Theil–Sen); over the sweep")
        case .upkeepCost:
            .init(
                .nsPerCommit, .processor, from: .companions, needs: [.observers, .baseline],
                "process CPU with subscriptions − without (paired trials), per affecting commit")
        case .upkeepExponent:
            .init(
                .one, .clock, from: .sweep(over: [.items]), takes: [.upkeepCost], needs: [.observers, .baseline],
                "β of upkeep_cost = c · itemsᵝ over the sweep: 0 incremental, 1 re-run, above 1 re-sort")
        case .upkeepGrowth:
            .init(
                .one, .clock, from: .sweep(over: [.items, .observerCount, .idleQueries]), takes: [.upkeepCost],
                needs: [.observers, .baseline],
                "`upkeep_cost` at the last point of the sweep ÷ at the first: the median over repetitions")
        case .instructionsExponent:
            .init(
                .one, .instruction, from: .sweep(over: [.items]), takes: [.engineInstructions],
                needs: [.setting(.countedForm)], "β as in `upkeep_exponent`, for `engine_instructions`")
        case .instructionsGrowth:
            .init(
                .one, .instruction, from: .sweep(over: [.items, .observerCount, .idleQueries]),
                takes: [.engineInstructions], needs: [.setting(.countedForm)],
                "`engine_instructions` at the last point of the sweep ÷ at the first")
        case .upkeepRatio:
            .init(
                .one, .clock, from: .peers, takes: [.upkeepCost], needs: [.observers, .baseline],
                "`upkeep_cost` ÷ that of the first driver that the scenario names, at the same point and in the same "
                    + "repetition")
        case .upkeepAllocations:
            .init(
                .allocationsPerCommit, .allocation, from: .companions,
                needs: [.observers, .baseline, .allocationCounters],
                "allocations of the process with subscriptions − without (paired trials), per commit that affects an "
                    + "observer; from the allocator's statistics, which may be wrong by a few per cent in a short "
                    + "trial")
        case .upkeepBytes:
            .init(
                .bytesPerCommit, .allocation, from: .companions, needs: [.observers, .baseline, .allocationCounters],
                "`upkeep_allocations` in bytes, rounded up to size classes")
        case .writerBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.allocationCounters],
                "bytes that the writing threads allocated (exact)")
        case .observerBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.observers, .allocationCounters],
                "bytes that the observing threads allocated (exact); no value with `observers.deliver: queue`, "
                    + "because queues have no threads of their own")
        case .engineBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.allocationCounters],
                "bytes that all other threads allocated, which are those of the engine")
        case .writerInstructions, .upkeepInstructions, .observerInstructions, .engineInstructions, .writerAllocations,
            .observerAllocations, .writerSystemCalls, .upkeepSystemCalls, .observerSystemCalls, .writerReads,
            .upkeepReads, .observerReads:
            Metric.fixed(self).countedEntry
        case .unsubscribedCost:
            .init(
                .nsPerCommit, .processor, from: .companions,
                needs: [.observers, .baseline, .setting(.cancelledObservers)],
                "process CPU after all observers were cancelled − that of a store that was never observed (paired "
                    + "trials), per commit")
        case .writerCPU:
            .init(
                .nsPerCommit, .processor, "CPU of the writing threads, without the wait for due times")
        case .upkeepCPU: .init(.nsPerCommit, .processor, "CPU of the engine's own background threads")
        case .observerCPU:
            .init(
                .nsPerCommit, .processor, needs: [.observers],
                "CPU of the observing threads, as an application's interface would pay it; no value with "
                    + "`observers.deliver: queue`, because queues have no threads of their own")
        case .processCPU: .init(.nsPerCommit, .processor, "CPU of the whole process")
        case .achievedRate: .init(.commitsPerSecond, .clock, worse: .less, "commits per second of the measured window")
        case .sustainableRate:
            .init(
                .commitsPerSecond, .clock, .bracket, worse: .less, from: .sweep(over: [.rate]),
                takes: [.scheduleStarted, .versionLag, .staleness, .coalescingRatio],
                needs: [.observers, .setting(.schedule)],
                "`low`: the highest sustained rate of a sweep and of the trials of a `search`; `high`: the lowest "
                    + "rate that is not sustained. A rate is sustained if `schedule_started` ≥ 0.99, `version_lag` "
                    + "grows by at most 0.1 % of the rate per second, `staleness` grows by at most 1 ms per second, "
                    + "and there is no violation")
        case .kneeRate:
            .init(
                .commitsPerSecond, .clock, worse: .less, from: .sweep(over: [.rate]), takes: [.coalescingRatio],
                needs: [.observers, .setting(.schedule)],
                "rate above which `coalescing_ratio` grows faster: the intersection of two lines fitted to the "
                    + "logarithms; no value if one line fits as well")
        case .observedRateRatio:
            .init(
                .one, .clock, worse: .less, from: .companions, takes: [.achievedRate], needs: [.observers, .baseline],
                "`achieved_rate` ÷ that of the paired trial without subscriptions")
        case .objectRate:
            .init(
                .objectsPerSecond, .clock, worse: .less, needs: [.setting(.closedLoad)],
                "objects written ÷ time spent in commits (begin to committed), over all writers")
        case .writerShareMin:
            .init(
                .one, .clock, worse: .less, needs: [.setting(.severalWriters)],
                "commits of the writer with the fewest ÷ an equal share of all commits of the window")
        case .spaceAmplification:
            .init(
                .one, .holding,
                "bytes of the file ÷ bytes of a compacted copy, at the end of the load, including held versions")
        case .activeVersions:
            .init(
                .versions, .clock,
                "versions that the store keeps: `value` at the end of the load, `max` over samples every 10 ms")
        case .liveBytes:
            .init(
                .bytes, .holding,
                "allocated bytes of the heap, from the allocator: `value` after the load, when all observers have "
                    + "been called; `max`; `slope` is the growth per commit (Theil–Sen over up to 64 samples in the "
                    + "measured window)")
        case .residentBytes:
            .init(
                .bytes, .holding,
                "resident anonymous memory (`RssAnon`), with `value`, `max` and `slope` as in `live_bytes`; it "
                    + "includes the records of the harness")
        case .fileBytes:
            .init(
                .bytes, .holding,
                "bytes that the store occupies on its file system, with `value`, `max` and `slope` as in "
                    + "`live_bytes`. A file that reuses its freed pages has a slope near 0 under a steady load")
        case .openFiles:
            .init(
                .files, .holding,
                "open descriptors: `value` after the load, `max`, and `slope`, the growth per commit since the start "
                    + "of the window, with the same observers at both times")
        case .recoveryTime:
            .init(
                .ns, .clock, .distribution(of: .others), needs: [.setting(.harmedWriter)],
                "time from a fault of the writing process (killed, stopped) until the next commit returned; from a "
                    + "fault of a server, or of connections to it, until every observer had been called for a later "
                    + "commit")
        case .failedCommits:
            .init(
                .count, .event,
                "commits that the store refused as it should, because its disk was full or its server was down")
        case .harnessHiccup:
            .init(
                .ns, .clock, .distribution(of: .others), about: .harness,
                "lateness of a thread that repeatedly sleeps 1 ms: no latency on this machine can be measured below it")
        case .clockUncertainty:
            .init(
                .ns, .clock, needs: [.setting(.hosts)], about: .harness,
                "largest possible error of a time between two hosts, in either direction: half the width of the "
                    + "interval that contains the difference of the clocks of writer and observer, where it is "
                    + "widest; 0 if all read one clock"
            )
        case .harnessCost:
            .init(
                .nsPerCommit, .processor, from: .companions, needs: [.noop], about: .harness,
                "process CPU of the same scenario on the no-op driver; all drivers at a point share that trial")
        case .voidedTrials:
            .init(
                .count, .event, from: .companions, about: .harness, isOwed: true,
                "number of times that the trial was repeated because the machine had disturbed it; the flags say how")
        case .recordingCost:
            .init(
                .nsPerObserverCommit, .clock, about: .harness,
                "CPU for recording one commit and one callback, measured on the recorders alone, without the clock "
                    + "readings, whose cost is in the flag")
        case .recordingBytes:
            .init(
                .bytes, .holding, about: .harness,
                "bytes allocated for recording 100,000 pairs of a commit and a callback")
        case .oracleCost:
            .init(
                .nsPerCommit, .processor, about: .harness,
                "time of the oracle's replay and comparison after the load, per commit of the trial")
        case .faultsCaught:
            .init(
                .count, .event, worse: .less, needs: [.setting(.harmedDeliveries)], about: .harness,
                "violations that the oracle found where deliveries were changed on purpose; a trial without any fails")
        case .slowdownSeen:
            .init(
                .one, .clock, needs: [.setting(.slowdown)], about: .harness,
                "median of `write_service_time` of the commits that were slowed on purpose ÷ median of the others − 1")
        case .stallSeen:
            .init(
                .one, .clock, needs: [.setting(.evenStall)], about: .harness,
                "p99 of `write_response_time` ÷ its expected value after the process was stopped, which is the "
                    + "longest hiccup − 1 % of the window")
        case .oracleViolations:
            .init(
                .count, .event, isOwed: true,
                "violations: convergence, monotonicity, change-set replay, atomicity, shown rows, first is initial, "
                    + "no call after cancel, nothing lost; must be 0")
        case .hangDetectionTime:
            .init(
                .ns, .clock, from: .interleavingTest,
                "time of an interleaving test that deadlocked, from the moment at which the cycle of waits closed to "
                    + "the report")
        case .interleavingTestTime:
            .init(
                .ns, .clock, from: .interleavingTest,
                "time of an interleaving test that completed, from the empty folder to the closed store")
        case .trialOutcome:
            .init(
                .one, .clock, from: .companions, about: .harness, isOwed: true,
                "how the trial ended: 0 completed, 1 crashed, 2 killed, 3 hang, 4 oracle violation, 5 harness "
                    + "fault, 6 interrupted")
        }
    }
}
