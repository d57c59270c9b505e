// What the oracle found.
import Scenario

struct OracleVerdict: Sendable {
    /// Sentences kept; more are only counted.
    static let kept = 10

    /// Where violations were seen.
    let spec: TrialSpec
    private(set) var violations: [String] = []
    private(set) var violationCount = 0
    /// Observers whose last data is not the store's final state.
    var missedFinal = 0
    /// Callbacks of measured observers whose data equals the previous callback's.
    var spurious = 0
    /// Callbacks whose change set was replayed, those found equal to one replayed already included.
    var replayed = 0
    /// Rows that were read back and compared at the end.
    var rowsCompared = 0
    /// Looks at rows inside callbacks that were compared with the version of the callback.
    var samplesCompared = 0
    /// What checking took, off the clock.
    var costNs: Int64 = 0

    mutating func add(_ violation: String) {
        violationCount += 1
        if violations.count < Self.kept { violations.append(spec.located(violation)) }
    }

    mutating func add(_ violations: [String]) { for violation in violations { add(violation) } }
}
