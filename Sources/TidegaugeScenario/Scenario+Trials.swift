// A scenario's list of trials: every driver at every point, repeated. Pure and deterministic.
import TidegaugeSpec
import TidegaugeStatistics

extension Scenario {
    /// What is to be run, in order: repetitions outermost, so that drift of the machine spreads over all points; then
    /// the points as written, and at each the drivers side by side.
    /// - Parameters:
    ///   - drivers: those to run on; ones the scenario is not meant for are left out.
    ///   - seed: the number that all random numbers follow from; nil: 1.
    ///   - overrides: values by key path, as `--set` takes them.
    /// - Throws: unknown drivers, what is wrong with `overrides`, or with what they bring about.
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

    /// Further trials with which the bracket of the sustainable rate is narrowed; 0: what the sweep says.
    public func searchSteps(profile: Profile, overrides: [String: String] = [:]) throws(ScenarioErrors) -> Int {
        try settings(profile, overrides).first?.settings.point.searchSteps ?? 0
    }

    /// The same for every driver and variant, so that their trials are pairs; SplitMix64 (Steele, Lea and Flood 2014),
    /// so that neighbouring seeds share no sequence.
    static func seed(of trial: Int, from seed: UInt64) -> UInt64 {
        SplitMix64.mix(seed &+ SplitMix64.step &* UInt64(trial + 1))
    }
}
