// The list of trials of a scenario: every driver at every point, repeated. Pure and deterministic.
import TidegaugeSpec
import TidegaugeStatistics

extension Scenario {
    /// Returns the trials in the order of execution. Repetitions are outermost, so that drift of the machine spreads
    /// over all points; then points in the written order, then drivers.
    /// - Parameters:
    ///   - drivers: drivers to run; those that the scenario excludes are left out.
    ///   - seed: seed of all random numbers (default: 1).
    ///   - overrides: values by key path, as in `--set`.
    /// - Throws: unknown drivers, and problems with `overrides` or their effects.
    public func trials(
        profile: Profile, drivers: [String], seed: UInt64? = nil, overrides: [String: String] = [:]
    ) throws(ScenarioErrors) -> [TrialSpec] {
        var problems = ProblemList(path: path)
        for name in drivers where !knownDrivers.contains(name) {
            problems.add(
                .option("--driver \(name)"), "unknown driver '\(name)' \(Nearest.hint(for: name, among: knownDrivers))")
        }
        try problems.check()
        let suited = drivers.filter { self.drivers.isEmpty || self.drivers.contains($0) }
        let points = try points(profile: profile, overrides: overrides)
        let seed = seed ?? 1

        let repetitions = points.map(\.repetitions).max() ?? 0
        return (0..<repetitions).flatMap { trial in
            points.flatMap { point in
                suited.map { driver in
                    var spec = point.spec
                    spec.driver = driver
                    spec.trial = trial
                    spec.seed = Self.seed(of: trial, from: seed)
                    return spec
                }
            }
        }
    }

    /// Returns the maximum number of additional trials per driver that search for the sustainable rate; 0: only the
    /// sweep.
    public func searchSteps(profile: Profile, overrides: [String: String] = [:]) throws(ScenarioErrors) -> Int {
        try settings(profile, overrides).first?.settings.point.searchSteps ?? 0
    }

    /// Seed of a repetition, equal for all drivers and variants, so that their trials are pairs. Uses SplitMix64
    /// (Steele, Lea and Flood 2014), so that adjacent seeds give unrelated sequences.
    static func seed(of trial: Int, from seed: UInt64) -> UInt64 {
        SplitMix64.mix(seed &+ SplitMix64.step &* UInt64(trial + 1))
    }
}
