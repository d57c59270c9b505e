// Metrics. A metric is a case and its entry, both in this file, and a provider in the table of its source
// (`TrialProvider`, `GroupFigures`, `SweepFigures`, `PeerFigures`, `InterleavingTrial`). A case without an entry does
// not compile. A metric without a provider fails `ProviderTests`. `DocumentationTests` compares the entries with the
// table of Docs/metrics.md.

/// A metric, by its name in files and reports. Scenario files accept no other names.
public enum Metric: String, CaseIterable, Sendable, Codable {
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
            .init(.ns, .clock, .distribution(of: .commits), "begin − due: how late the load generator itself was")
        case .scheduleStarted:
            .init(
                .one, .clock, worse: .less, needs: [.setting(.schedule)],
                "share of the commits due in the measured window that were begun in it")
        case .missedCommits:
            .init(
                .count, .clock, needs: [.setting(.schedule)],
                "commits due in the measured window that were never made: their writer was late, and gave up")
        case .writeServiceTime: .init(.ns, .processor, .distribution(of: .commits), "committed − begin")
        case .writeResponseTime:
            .init(.ns, .clock, .distribution(of: .commits), "committed − due: waiting for one's turn included")
        case .writerPenalty:
            .init(
                .one, .clock, from: .companions, takes: [.writeServiceTime], needs: [.observers, .baseline],
                "median of `write_service_time` with subscriptions ÷ that without (paired trials)")
        case .lockWait: .init(.ns, .clock, .distribution(of: .commits), "locked − begin")
        case .deliveryLatency:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers], mayBeNegative: true,
                "enter of the covering delivery − committed; under zero where the callback began before the "
                    + "commit returned, in percentiles, mean and extremes alike")
        case .lastDeliveryLatency:
            .init(
                .ns, .clock, .distribution(of: .commits), needs: [.observers], mayBeNegative: true,
                "enter of the covering delivery of the observer called last − committed: one sample per commit")
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
                "from waking a thread that sleeps on a futex to a run loop that this thread wakes in turn: the "
                    + "way of a notification without a store. Measured halfway between the commits, by threads that "
                    + "have slept as long")
        case .deliveryOverFloor:
            .init(
                .one, .clock, needs: [.observers, .wakeProbe, .setting(.gapsToWakeIn)],
                "median of `write_to_callback` ÷ median of `wake_floor`, both of one trial")
        case .callbackTime: .init(.ns, .clock, .distribution(of: .deliveries), needs: [.observers], "exit − enter")
        case .staleness:
            .init(
                .ns, .clock, .distribution(of: .deliveries), needs: [.observers],
                "age of the oldest commit not yet covered, 0 if there is none; a distribution over *time*, "
                    + "integrated without sampling; `n` counts commits")
        case .versionLag:
            .init(
                .versions, .clock, .distribution(of: .deliveries), needs: [.observers],
                "commits returned and not yet covered; over time as well")
        case .coalescingRatio:
            .init(
                .commitsPerCallback, .clock, worse: .neither, needs: [.observers],
                "affecting commits covered ÷ callbacks, those that covered nothing included")
        case .batchSpan:
            .init(
                .commits, .clock, .distribution(of: .deliveries), worse: .neither, needs: [.observers],
                "commits covered per callback")
        case .spuriousNotifications:
            .init(.count, .event, needs: [.observers], "callbacks whose data equals that of the callback before")
        case .missedFinal:
            .init(
                .count, .event, needs: [.observers], isOwed: true,
                "observers whose last data is not the store's final state; must be 0")
        case .timeToFirstDelivery:
            .init(
                .ns, .clock, .distribution(of: .observers), needs: [.observers],
                "enter of the first callback − the subscribe call")
        case .observerStall:
            .init(
                .ns, .clock, .distribution(of: .others), needs: [.observers, .setting(.calls)],
                "how long an observing thread was blocked in a call on the store right after a writer's commit, "
                    + "as `observers.calls` says: in begin-write until the write lock was granted, in refresh until it "
                    + "returned")
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
                "`upkeep_cost` at the last point of the sweep ÷ at the first, of each repetition by itself, then "
                    + "the median")
        case .instructionsExponent:
            .init(
                .one, .instruction, from: .sweep(over: [.items]), takes: [.engineInstructions],
                needs: [.setting(.countedForm)], "β as in `upkeep_exponent`, of `engine_instructions`")
        case .instructionsGrowth:
            .init(
                .one, .instruction, from: .sweep(over: [.items, .observerCount, .idleQueries]),
                takes: [.engineInstructions], needs: [.setting(.countedForm)],
                "`engine_instructions` at the last point of the sweep ÷ at the first")
        case .upkeepRatio:
            .init(
                .one, .clock, from: .peers, takes: [.upkeepCost], needs: [.observers, .baseline],
                "`upkeep_cost` ÷ that of the first driver the scenario names, at the same point and in the same "
                    + "repetition: how many times as much a peer pays")
        case .upkeepAllocations:
            .init(
                .allocationsPerCommit, .allocation, from: .companions,
                needs: [.observers, .baseline, .allocationCounters],
                "allocations of the process with subscriptions − without (paired trials), per affecting commit; "
                    + "from the allocator's statistics, which may be a few per cent off over a short trial")
        case .upkeepBytes:
            .init(
                .bytesPerCommit, .allocation, from: .companions, needs: [.observers, .baseline, .allocationCounters],
                "the same in bytes, as size classes")
        case .writerBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.allocationCounters],
                "bytes that the writing threads allocated, exact")
        case .observerBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.observers, .allocationCounters],
                "bytes that the observing threads allocated, exact; no value where deliveries run on queues, which "
                    + "have no threads of their own")
        case .engineBytes:
            .init(
                .bytesPerCommit, .allocation, needs: [.allocationCounters],
                "bytes that all other threads allocated: the engine's own")
        case .writerInstructions, .upkeepInstructions, .observerInstructions, .engineInstructions, .writerAllocations,
            .observerAllocations, .writerSystemCalls, .upkeepSystemCalls, .observerSystemCalls, .writerReads,
            .upkeepReads, .observerReads:
            countedEntry
        case .unsubscribedCost:
            .init(
                .nsPerCommit, .processor, from: .companions,
                needs: [.observers, .baseline, .setting(.cancelledObservers)],
                "process CPU after all observers were cancelled − that of a store that nobody ever observed "
                    + "(paired trials), per commit")
        case .writerCPU:
            .init(
                .nsPerCommit, .processor, "CPU of the writing threads; time spent waiting for a due time is taken off")
        case .upkeepCPU: .init(.nsPerCommit, .processor, "CPU of the engine's own background threads")
        case .observerCPU:
            .init(
                .nsPerCommit, .processor, needs: [.observers],
                "CPU of the observing threads: what notification costs the interface; no value where deliveries run "
                    + "on queues, which have no threads of their own")
        case .processCPU: .init(.nsPerCommit, .processor, "CPU of the whole process")
        case .achievedRate: .init(.commitsPerSecond, .clock, worse: .less, "commits per second of the measured window")
        case .sustainableRate:
            .init(
                .commitsPerSecond, .clock, .bracket, worse: .less, from: .sweep(over: [.rate]),
                takes: [.scheduleStarted, .versionLag, .staleness, .coalescingRatio],
                needs: [.observers, .setting(.schedule)],
                "over a sweep of rates, and the further trials of a `search`: `low` is the highest rate that is "
                    + "kept up with, `high` the lowest that is not. Kept up with means: `schedule_started` ≥ 0.99, "
                    + "`version_lag` grows by no more than 0.1 % of the rate per second, `staleness` by no more than 1 "
                    + "ms per second, nothing broke")
        case .kneeRate:
            .init(
                .commitsPerSecond, .clock, worse: .less, from: .sweep(over: [.rate]), takes: [.coalescingRatio],
                needs: [.observers, .setting(.schedule)],
                "where `coalescing_ratio` over the rate bends: the meeting point of two straight lines through "
                    + "the logarithms; no value where one line fits as well")
        case .observedRateRatio:
            .init(
                .one, .clock, worse: .less, from: .companions, takes: [.achievedRate], needs: [.observers, .baseline],
                "`achieved_rate` ÷ that of the paired trial without subscriptions")
        case .objectRate:
            .init(
                .objectsPerSecond, .clock, worse: .less, needs: [.setting(.closedLoad)],
                "objects written ÷ time spent in commits, begin to committed; of several writers in all")
        case .writerShareMin:
            .init(
                .one, .clock, worse: .less, needs: [.setting(.severalWriters)],
                "commits of the writer that made fewest ÷ an equal share of all commits of the window")
        case .spaceAmplification:
            .init(
                .one, .holding,
                "bytes of the file ÷ bytes of a compacted copy, at the end of the load, held versions included")
        case .activeVersions:
            .init(
                .versions, .clock,
                "versions the store keeps: `value` at the end of the load, `max` of looks every 10 ms")
        case .liveBytes:
            .init(
                .bytes, .holding,
                "bytes of the heap that are allocated and not freed, by the allocator: `value` when the load is "
                    + "over and all observers have been called, `max`, and as `slope` how many more with each commit "
                    + "(Theil–Sen over up to 64 looks in the measured window)")
        case .residentBytes:
            .init(
                .bytes, .holding,
                "the same of anonymous memory that is resident (`RssAnon`), which holds the harness's own records "
                    + "as well")
        case .fileBytes:
            .init(
                .bytes, .holding,
                "the same of the bytes that the store occupies on its file system. A file that uses its freed "
                    + "pages again has a slope of nearly 0 once the load goes on as it began")
        case .openFiles:
            .init(
                .files, .holding,
                "descriptors that are open: `value` when the load is over, `max`, and as `slope` how many more "
                    + "per commit than at the start of the window, at both of which the same observers are there")
        case .recoveryTime:
            .init(
                .ns, .clock, .distribution(of: .others), needs: [.setting(.harmedWriter)],
                "from what was done to the writing process (killed, stopped) until the next commit returned; from what was done to "
                    + "a server, or to connections to it, until every observer had been called for a commit that began "
                    + "after it")
        case .failedCommits:
            .init(
                .count, .event,
                "commits that the store refused while it was meant to: its disk was full, its server was down")
        case .harnessHiccup:
            .init(
                .ns, .clock, .distribution(of: .others), about: .harness,
                "how much too late a thread woke that asked to sleep 1 ms, over and over: the floor of any "
                    + "latency here")
        case .clockUncertainty:
            .init(
                .ns, .clock, needs: [.setting(.hosts)], about: .harness,
                "by how much a time between two hosts may be wrong, either way: half the width of what is known of the clocks' "
                    + "difference, at the moment where it is widest, of who writes and of who observes; 0 where all read one clock"
            )
        case .harnessCost:
            .init(
                .nsPerCommit, .processor, from: .companions, needs: [.noop], about: .harness,
                "process CPU of the same scenario on the no-op driver; drivers at one point share that trial")
        case .voidedTrials:
            .init(
                .count, .event, from: .companions, about: .harness, isOwed: true,
                "times the trial was run again because the machine had disturbed it; the flags say how")
        case .recordingCost:
            .init(
                .nsPerObserverCommit, .clock, about: .harness,
                "CPU that writing down one commit and one callback takes, measured on the recorders alone; the "
                    + "readings of the clock are no part of it and stand in its flag")
        case .recordingBytes:
            .init(.bytes, .holding, about: .harness, "what that allocates, over a hundred thousand pairs")
        case .oracleCost:
            .init(
                .nsPerCommit, .processor, about: .harness,
                "time the oracle's replay and comparison took after the load, per commit of the trial")
        case .faultsCaught:
            .init(
                .count, .event, worse: .less, needs: [.setting(.harmedDeliveries)], about: .harness,
                "what the oracle found wrong where deliveries were harmed on purpose; a trial in which it finds "
                    + "nothing fails")
        case .slowdownSeen:
            .init(
                .one, .clock, needs: [.setting(.slowdown)], about: .harness,
                "median of `write_service_time` of the commits that were slowed on purpose ÷ that of the others, − 1")
        case .stallSeen:
            .init(
                .one, .clock, needs: [.setting(.evenStall)], about: .harness,
                "p99 of `write_response_time` ÷ what it has to be when the process was stopped for a while: the "
                    + "longest hiccup less a hundredth of the window")
        case .oracleViolations:
            .init(
                .count, .event, isOwed: true,
                "promises broken: convergence, monotonicity, change-set replay, atomicity, shown rows, first is "
                    + "initial, no call after cancel, nothing lost; must be 0")
        case .hangDetectionTime:
            .init(
                .ns, .clock, from: .interleavingTest,
                "of an interleaving test that deadlocked: from the moment the cycle of waits closed to the report")
        case .interleavingTestTime:
            .init(
                .ns, .clock, from: .interleavingTest,
                "of an interleaving test that completed: from the empty folder to the closed store")
        case .trialOutcome:
            .init(
                .one, .clock, from: .companions, about: .harness, isOwed: true,
                "how the trial ended: 0 completed, 1 crashed, 2 killed, 3 hang, 4 oracle violation, 5 harness "
                    + "fault, 6 interrupted")
        }
    }
}
