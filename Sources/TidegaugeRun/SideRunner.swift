// One side of a pair: a trial with the companions its figures need, on one binary, and what the machine did meanwhile.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// What came of it.
public struct SideRun: Sendable {
    public var result: TrialResult
    public var figures: [Figure]
    /// The worst of the trial and its companions.
    public var noise: NoiseAccount?
    /// How often its processes gave their processor away.
    public var voluntarySwitches: Int64
}

/// Runs trials on one binary. One thread.
public final class SideRunner {
    private let executor: any TrialExecutor

    public init(_ executor: any TrialExecutor) { self.executor = executor }

    /// Where it takes turns with another side: what is called before each trial, to begin it together.
    public var begin: () -> Void = {}

    /// Always comes back; `result.fate` says how. A companion that does not complete is the side's fate.
    public func run(_ spec: TrialSpec) -> SideRun {
        let group = TrialGroup(spec)
        let before = PressureProbe.read()
        var results: [TrialGroup.Role: TrialResult] = [:]
        for (role, spec) in group.members {
            begin()
            let result = executor.run(spec) { _ in }
            results[role] = result
            if result.fate != .completed { break }
        }
        let failed = results.values.first { $0.fate != .completed }
        let measured = failed ?? results[.measured] ?? TrialResult(fate: .harnessFault(reason: "no_trial"))
        return SideRun(
            result: measured, figures: GroupFigures(spec, measured, beside: results).figures(),
            noise: results.values.compactMap(\.noise).reduce(nil) { $0?.worse($1) ?? $1 },
            voluntarySwitches: PressureProbe.read().since(before).voluntarySwitches)
    }
}
