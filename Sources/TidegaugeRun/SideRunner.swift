// Runs one side of a pair: a trial with its companions on one binary, with the disturbances of the machine meanwhile.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Results of one side.
public struct SideRun: Sendable {
    public var result: TrialResult
    public var figures: [Figure]
    /// The worst noise of the trial and its companions.
    public var noise: NoiseAccount?
    /// Number of voluntary context switches of this process and of its children that ended meanwhile.
    public var voluntarySwitches: Int64
}

/// Runs trials on one binary. One thread.
public final class SideRunner {
    private let executor: any TrialExecutor

    public init(_ executor: any TrialExecutor) { self.executor = executor }

    /// Called before each trial, to begin it together with the other side if time slices are shared.
    public var begin: () -> Void = {}

    /// Runs a trial and its companions, and always returns; `result.fate` says how it ended. A companion that does
    /// not complete sets the side's fate.
    public func run(_ spec: TrialSpec) -> SideRun {
        // No metric of a pair is measured beside the no-op driver (`Subjects`).
        let group = TrialGroup(spec, beside: EngineFacts.noop)
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
            result: measured, figures: GroupFigures(group, measured, beside: results).figures(),
            noise: results.values.compactMap(\.noise).reduce(nil) { $0?.worse($1) ?? $1 },
            voluntarySwitches: PressureProbe.read().since(before).voluntarySwitches)
    }
}
