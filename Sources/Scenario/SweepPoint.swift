// One point of a sweep: where the rows of the table of keys put their values. Values only.

/// What holds at one point of a sweep, and what it costs.
public struct SweepPoint: Sendable, Equatable {
    /// What its trials have in common: with a driver, a number and a seed of its own it is a trial.
    public var spec: TrialSpec
    /// What the seeds of the trials follow from.
    public var seed = 0
    /// Trials at this point, on each driver.
    public var repetitions = 1
    /// Further trials with which the bracket of the sustainable rate is narrowed; 0: what the sweep says.
    public var searchSteps = 0
    /// Child processes per trial: itself, and its companions without observers and on the no-op driver, as the measured
    /// metrics ask for them.
    public var processesPerTrial = 1
    /// What a closed loop waits for; the spec has `lockstep` for `delivery`.
    var wait = WritersSpec.Wait.return
    /// Where the spec's due times come from; empty: from nowhere.
    var traceFile = ""

    /// The sweep point, keys sorted: `dataset.items=100000;observers.count=100`; empty for a scenario without a sweep.
    public var variant: String { spec.variant }

    /// With the default of every key that has one, and 0 or nothing for the others.
    static let defaults = Setting.allCases.reduce(into: SweepPoint(spec: .blank)) { point, setting in
        if let value = setting.row.defaultValue { setting.row.write(value, &point) }
    }

    /// What all its trials on one driver will take, about; one after the other, loading included.
    public var estimatedNs: Int64 {
        let subscriptions = Int64(spec.observers.count + spec.observers.bystanders)
        let rows = Int64(spec.dataset.items + 10 * spec.dataset.groups)
        // A play is over when its threads are, or a circle has been looked at for long enough.
        let process =
            (spec.choreography == nil ? Self.processNs : Self.playNs) + rows * Self.loadNsPerItem
            + subscriptions * Self.subscribeNsPerObserver + spec.warmUpNs + spec.durationNs
        return process * Int64(processesPerTrial) * Int64(repetitions)
    }

    /// Start of a process, opening, quiescence, the oracle's comparison and writing the results.
    private static let processNs: Int64 = 400_000_000
    private static let playNs: Int64 = 150_000_000
    /// Inserting a row in bulk and building the first result from it.
    private static let loadNsPerItem: Int64 = 2_000
    private static let subscribeNsPerObserver: Int64 = 100_000
}
