// The settings of one point of a sweep. The table of keys (`Setting.row`) reads and writes its fields. Values only.
import TidegaugeSpec

/// Values at one point of a sweep.
public struct SweepPoint: Sendable, Equatable {
    /// Common spec of its trials, without driver, number and seed.
    public var spec: TrialSpec
    /// Number of trials per driver.
    public var repetitions = 1
    /// Maximum number of additional trials per driver that search for the sustainable rate; 0: only the sweep.
    public var searchSteps = 0
    /// Event that a closed loop waits for. In the spec, `delivery` is stored as `lockstep`.
    var wait = WritersSpec.Wait.return
    /// Name of the trace file; empty without one.
    var traceFile = ""

    /// Sweep point as text with sorted keys: `dataset.items=100000;observers.count=100`. Empty without a sweep.
    public var variant: String { spec.variant }

    /// Default of every key that has one; for the others, the values of `TrialSpec.blank`.
    static let defaults = Setting.allCases.reduce(into: SweepPoint(spec: .blank)) { point, setting in
        if let value = setting.row.defaultValue { setting.row.write(value, &point) }
    }
}
