// Sweep points of a scenario in a profile. Pure.
import TidegaugeSpec

extension Scenario {
    /// Returns the points of `profile` in the written order. A profile that the file lacks uses the scenario unchanged.
    /// - Parameter overrides: values by key path, as in `--set`. A value for a swept key replaces its sweep.
    /// - Throws: problems with `overrides` or their effects.
    public func points(profile: Profile, overrides: [String: String] = [:]) throws(ScenarioErrors) -> [SweepPoint] {
        try settings(profile, overrides).map { variant, settings in
            var point = settings.point
            point.spec.scenario = name
            point.spec.scenarioSHA = sha256
            point.spec.variant = variant
            point.spec.measure = measure.map(\.rawValue)
            point.spec.interleaving = interleaving
            // Values that depend on two keys.
            point.spec.dataset.groups = max(point.spec.dataset.groups, point.spec.observers.idleQueries)
            if settings.isLockstep { point.spec.writers.load = .lockstep }
            if settings.writers.arrivals == .trace, let trace = traces[point.traceFile] { point.spec.follow(trace) }
            return point
        }
    }

    /// Returns the points with their layered values: base, profile, sweep, options.
    func settings(
        _ profile: Profile, _ overrides: [String: String]
    ) throws(ScenarioErrors) -> [(variant: String, settings: Settings)] {
        var problems = ProblemList(path: path)
        let options = Self.read(overrides, into: &problems)
        try problems.check()
        let points = points(profile, options)
        // The file was checked when it was read, so new problems come from the options.
        if !options.isEmpty {
            for point in points { point.settings.checkRules(missingAt: start, into: &problems) }
            checkCount(points.map(\.settings), into: &problems)
            checkTraces(points.map(\.settings), into: &problems)
            try problems.check()
        }
        return points
    }

    private func points(
        _ profile: Profile, _ options: [Setting: GivenValue]
    ) -> [(variant: String, settings: Settings)] {
        var layered = base.overlaid(by: profiles[profile]?.values ?? [:]).overlaid(by: options)
        layered.refused.formUnion(profiles[profile]?.refused ?? [])
        layered.profile = profile
        guard let sweep = sweep(in: profile) else { return [("", layered)] }
        return sweep.points(over: layered, pinned: Set(options.keys))
    }

    /// Returns a warning for each value in `overrides` that replaces a sweep, with the limits that no point is left for.
    public func replacedSweeps(in profile: Profile, overrides: [String: String]) -> [ScenarioProblem] {
        let swept = Set(sweep(in: profile)?.settings.map(\.rawValue) ?? [])
        let replaced = overrides.filter { swept.contains($0.key) }.sorted { $0.key < $1.key }
        guard !replaced.isEmpty, let left = try? settings(profile, overrides),
            let all = try? settings(profile, [:])
        else { return [] }
        func isLeft(_ limit: Limit, _ points: [(variant: String, settings: Settings)]) -> Bool {
            points.contains { limit.applies(to: $0.variant) }
        }
        return replaced.map { key, value in
            let lost = limits.filter { $0.at[key] != nil && isLeft($0, all) && !isLeft($0, left) }
            let consequence = lost.map { "; not judged: \($0.text(digits: 3))" }.joined()
            return ScenarioProblem(
                .option("--set \(key)"),
                "'\(key)' is swept by \(name): the sweep over it is replaced by \(Quantity.clipped(value))\(consequence)"
            )
        }
    }

    private func sweep(in profile: Profile) -> Sweep? { profiles[profile]?.sweep ?? sweep }

    private static func read(_ overrides: [String: String], into problems: inout ProblemList) -> [Setting: GivenValue] {
        var options: [Setting: GivenValue] = [:]
        let known = Setting.allCases.map(\.rawValue)
        for (key, text) in overrides.sorted(by: { $0.key < $1.key }) {
            let place = ScenarioProblem.Place.option("--set \(key)")
            guard let setting = Setting(rawValue: key) else {
                problems.add(place, "unknown key '\(Quantity.clipped(key))' \(Nearest.hint(for: key, among: known))")
                continue
            }
            do throws(ValueFault) {
                if setting == .trace { throw ValueFault("can be named by a scenario file alone, which it lies beside") }
                options[setting] = GivenValue(value: try setting.value(from: text), place: place, layer: .option)
            } catch {
                problems.add(place, "'\(key)' \(error.message)")
            }
        }
        return options
    }
}

// MARK: Checks over all points

extension Scenario {
    /// Reports the problems of `profile` as a whole and at each of its points.
    func check(_ profile: Profile, _ measured: [Metric: Position], into problems: inout ProblemList) {
        let points = points(profile, [:])
        for point in points { point.settings.checkRules(missingAt: start, into: &problems) }
        checkCount(points.map(\.settings), into: &problems)

        for metric in measure where !metric.neededSweep.isEmpty {
            checkSweep(metric, profile, measured, into: &problems)
        }
        checkSearch(points.first?.settings, into: &problems)
        checkTraces(points.map(\.settings), into: &problems)
        for metric in measure { checkObstacles(metric, points.map(\.settings), measured, into: &problems) }
        guard !points.isEmpty, points.allSatisfy({ $0.settings.observers.count == 0 }) else { return }
        for metric in measure where metric.needsObservers {
            guard let position = measured[metric], !base.refused.contains(.observerCount) else { continue }
            problems.add(
                position,
                "'\(metric.rawValue)' needs observers, and 'observers.count' is 0 throughout (make it 1 or more)")
        }
    }

    /// Limits the number of trials per driver, which are all listed before the first one runs.
    private func checkCount(_ points: [Settings], into problems: inout ProblemList) {
        guard let most = points.max(by: { $0.point.repetitions < $1.point.repetitions }) else { return }
        let repetitions = most.point.repetitions
        guard points.count * repetitions > Self.maximumTrials else { return }
        problems.add(
            most[.repetitions]?.place ?? start,
            "\(points.count) points, \(repetitions) times each, are more than \(Self.maximumTrials) trials; repeat them "
                + "less often, or shorten the sweep")
    }

    /// Maximum number of trials per driver.
    private static let maximumTrials = 10_000

    /// A search requires the metric that it searches for.
    private func checkSearch(_ settings: Settings?, into problems: inout ProblemList) {
        guard let settings, settings.point.searchSteps > 0, !measure.contains(.sustainableRate),
            let place = settings[.search]?.place
        else { return }
        problems.add(place, "'search' looks for the sustainable rate: add 'sustainable_rate' to 'measure'")
    }

    /// A trace must reach into the measured window and match the dataset and the writers.
    private func checkTraces(_ points: [Settings], into problems: inout ProblemList) {
        for settings in points where settings.writers.arrivals == .trace {
            guard let given = settings[.trace], let trace = traces[settings.point.traceFile],
                let last = trace.dueNs.last
            else { continue }
            if last < settings.point.spec.warmUpNs {
                problems.add(
                    given.place,
                    "'writers.trace' ends after \(Quantity.text(durationNs: last)), before 'warm_up' does: nothing would be "
                        + "measured")
            }
            guard let workload = trace.workload else { continue }
            if settings.point.spec.dataset.items < workload.rowCount {
                problems.add(
                    given.place,
                    "'writers.trace' begins with \(workload.rowCount) rows, and 'dataset.items' is "
                        + "\(settings.point.spec.dataset.items) (make it \(workload.rowCount) or more)")
            }
            if settings.writers.threads != 1 {
                problems.add(
                    given.place, "'writers.trace' says what commits do, one after the other (make 'writers.threads' 1)")
            }
        }
    }

    /// Reports a metric that can be measured at none of the points. A metric that needs the wake probe is reported even
    /// if there is only one point where it cannot be measured.
    private func checkObstacles(
        _ metric: Metric, _ points: [Settings], _ measured: [Metric: Position], into problems: inout ProblemList
    ) {
        let obstacles = points.compactMap(metric.obstacle)
        guard let obstacle = obstacles.first, let position = measured[metric] else { return }
        if metric.needsWakeProbe || obstacles.count == points.count {
            problems.add(position, "'\(metric.rawValue)' \(obstacle)")
        }
    }

    private func checkSweep(
        _ metric: Metric, _ profile: Profile, _ measured: [Metric: Position], into problems: inout ProblemList
    ) {
        let needed = metric.neededSweep
        let sweep = sweep(in: profile)
        if let sweep {
            let isVaried = needed.contains { sweep.values(of: $0, over: base).count > 1 }
            if isVaried || !sweep.isComplete { return }
        }
        let keys = needed.map { "'\($0.rawValue)'" }.joined(separator: " or ")
        let message = "'\(metric.rawValue)' is a figure over a sweep and needs two or more values of \(keys)"
        if let own = profiles[profile]?.sweep {
            problems.add(own.place, message + ", in the profile '\(profile.rawValue)' as well")
        } else if let position = measured[metric] {
            problems.add(position, message)
        }
    }

    /// Reports limits for points that no profile measures.
    func checkLimits(_ places: [Limit: Position], into problems: inout ProblemList) {
        let sweeps = Profile.allCases.map { sweep(in: $0) }
        guard sweeps.allSatisfy({ $0?.isComplete ?? true }) else { return }
        let variants = Set(Profile.allCases.flatMap { points($0, [:]).map(\.variant) })
        // Variants by each of their parts, so that each limit is compared with few points.
        var holders: [Substring: Set<String>] = [:]
        for variant in variants {
            for part in variant.split(separator: ";") { holders[part, default: []].insert(variant) }
        }
        for limit in limits where !limit.at.isEmpty && !problems.isFull {
            let held: [Set<String>] = limit.at.map { holders["\($0.key)=\($0.value)"] ?? [] }
            let candidates = held.min { $0.count < $1.count } ?? []
            guard let position = places[limit], !candidates.contains(where: limit.applies(to:)) else { continue }
            problems.add(
                position, "no profile measures this point (its keys must be swept, and its values among the swept)")
        }
    }
}
