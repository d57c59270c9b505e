// One point of a sweep: where the rows of the table of keys put their values. Values only.
import TidegaugeSpec

/// What holds at one point of a sweep.
public struct SweepPoint: Sendable, Equatable {
    /// What its trials have in common: with a driver, a number and a seed of its own it is a trial.
    public var spec: TrialSpec
    /// Trials at this point, on each driver.
    public var repetitions = 1
    /// Further trials with which the bracket of the sustainable rate is narrowed; 0: what the sweep says.
    public var searchSteps = 0
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
}
