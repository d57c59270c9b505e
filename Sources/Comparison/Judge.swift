// Pairs → rows: the gates by their two stages, everything else as advice, with false discoveries held down over all of it.
// Pure but for seeded resampling.
import Measure
import Scenario
import Statistics

public struct Judge: Sendable {
    /// Share of false alarms among what is advised.
    public static let falseDiscoveryRate = 0.05

    private let engine: ComparisonEngine

    public init(_ engine: ComparisonEngine) { self.engine = engine }

    /// Gates first, in the order of the plan; then the others.
    public func rows() -> [ComparedRow] {
        engine.tracks.map(gate) + advised(engine.tracks.flatMap(others))
    }

    // MARK: Gates

    private func gate(_ track: GateTrack) -> ComparedRow {
        // Fresh pairs where there are any: those of the screen were chosen for being high.
        let isFresh = track.state == .confirmed || track.state == .refuted || track.state == .confirming
        let hasFresh = isFresh && !track.confirm.isEmpty
        let pairs = hasFresh ? track.confirm : track.screen
        let name = track.gate
        let variant = track.subject.points.count == 1 ? track.subject.points[0].variant : ComparedRow.overSweep
        let effect = PairedEffect(pairs.compactMap { $0.worsening(name) })
        var row = self.row(track.subject, variant, name, effect, isGate: true)
        (row.base, row.head) = medians(pairs, name)
        (row.verdict, row.remark) = verdict(track, effect)
        if row.verdict == .inconclusive, let effect {
            row.pairsToDecide = effect.pairsToDecide(track.criterion.delta)
        }
        return row
    }

    private func verdict(_ track: GateTrack, _ effect: PairedEffect?) -> (Verdict, String) {
        switch track.state {
        case .noisy: return (.inconclusive, "noisy machine: \(track.voids.count) void pairs")
        case .failing: return (.inconclusive, "trials do not complete")
        default: break
        }
        guard let effect else { return (.inconclusive, "no pair has this figure") }
        let delta = track.criterion.delta
        switch track.state {
        case .confirmed: return (.regressed, "confirmed on fresh pairs")
        case .refuted where effect.isUnder(delta): return (.unchanged, "a first suspicion was not borne out")
        case .refuted: return (.inconclusive, "suspected, not confirmed")
        case .confirming: return (.inconclusive, "suspected, confirmation not finished")
        default: break
        }
        if track.criterion.worse == .neither {
            let isShifted = effect.pEither < 0.01 && abs(effect.estimate) > delta
            return (isShifted ? .shifted : .inconclusive, "")
        }
        if effect.pBetter < 0.01, effect.estimate < -delta { return (.improved, "") }
        if effect.isUnder(delta) { return (.unchanged, "") }
        return (.inconclusive, track.state == .screening ? "not finished" : "")
    }

    // MARK: Advice

    private func others(_ track: GateTrack) -> [ComparedRow] {
        let pairs = track.screen + track.confirm
        return track.subject.points.indices.flatMap { point -> [ComparedRow] in
            let variant = track.subject.points[point].variant
            let base = names(pairs.flatMap { $0.points[point].base.values })
            let head = names(pairs.flatMap { $0.points[point].head.values })
            return base.union(head).sorted().compactMap { name -> ComparedRow? in
                if Metric(rawValue: name.metric)?.isOfTheMachine ?? false { return nil }
                if name == track.gate, track.subject.points.count == 1 { return nil }
                guard base.contains(name), head.contains(name) else {
                    return oneSided(track.subject, variant, name, pairs, point, isBase: base.contains(name))
                }
                return advice(track.subject, variant, name, pairs, point)
            }
        }
    }

    private func names(_ values: [SideTrial.Value]) -> Set<FigureName> {
        Set(values.map(\.name).filter { !["count", "min", "max"].contains($0.statistic) })
    }

    private func advice(
        _ subject: ComparedSubject, _ variant: String, _ name: FigureName, _ pairs: [PairRecord], _ point: Int
    ) -> ComparedRow {
        let values = pairs.compactMap { pair -> (base: Double, head: Double)? in
            guard let base = pair.points[point].base.value(name), let head = pair.points[point].head.value(name)
            else { return nil }
            return (base, head)
        }
        let criterion = Criterion(metric: name.metric, statistic: name.statistic)
        let worsening = values.compactMap { criterion.worsening(base: $0.base, head: $0.head) }
        // Some pairs without a logarithm (a cost under zero, a median of nothing) and those that are left would be a choice
        // by what was measured.
        let effect = worsening.count == values.count ? PairedEffect(worsening) : nil
        var row = self.row(subject, variant, name, effect, isGate: false)
        (row.base, row.head) = (median(values.map(\.base)), median(values.map(\.head)))
        if let effect {
            row.verdict = effect.isUnder(criterion.delta) && criterion.worse != .neither ? .unchanged : .inconclusive
            row.pairsToDecide = effect.pairsToDecide(criterion.delta)
        } else {
            row.remark = "values at or under zero"
        }
        if name.statistic == "p99", let metric = Metric(rawValue: name.metric) {
            row.merged = merged(metric, pairs, point, criterion)
        }
        return row
    }

    private func oneSided(
        _ subject: ComparedSubject, _ variant: String, _ name: FigureName, _ pairs: [PairRecord], _ point: Int,
        isBase: Bool
    ) -> ComparedRow? {
        let values = pairs.compactMap { (isBase ? $0.points[point].base : $0.points[point].head).value(name) }
        // A percentile that the samples of one side just carry is no metric of its own.
        guard pairs.count >= 5, values.count > pairs.count / 2 else { return nil }
        var row = self.row(subject, variant, name, nil, isGate: false)
        row.verdict = isBase ? .onlyBase : .onlyHead
        row.pairs = values.count
        if isBase { row.base = median(values) } else { row.head = median(values) }
        return row
    }

    /// Verdicts of effects that are more than a false discovery, and that matter.
    private func advised(_ rows: [ComparedRow]) -> [ComparedRow] {
        var rows = rows
        let tested = rows.indices.filter { rows[$0].pValue != nil }
        let adjusted = ManyTests.benjaminiHochberg(tested.map { rows[$0].pEither! })
        for (index, q) in zip(tested, adjusted) {
            rows[index].qValue = q
            let criterion = Criterion(metric: rows[index].name.metric, statistic: rows[index].name.statistic)
            guard q < Self.falseDiscoveryRate, let worsening = rows[index].worsening,
                abs(worsening) > criterion.delta
            else { continue }
            rows[index].verdict = criterion.worse == .neither ? .shifted : worsening > 0 ? .regressed : .improved
            rows[index].pairsToDecide = nil
        }
        return rows
    }

    // MARK: Parts

    private func row(
        _ subject: ComparedSubject, _ variant: String, _ name: FigureName, _ effect: PairedEffect?, isGate: Bool
    ) -> ComparedRow {
        let criterion = Criterion(metric: name.metric, statistic: name.statistic)
        var row = ComparedRow(
            scenario: subject.scenario, driver: subject.driver, variant: variant, name: name, criterion: criterion,
            isGate: isGate, pairs: effect?.pairs ?? 0)
        guard let effect else { return row }
        row.change = criterion.change(effect.estimate)
        let ends = [effect.low, effect.high].map { $0.map(criterion.change) }
        (row.low, row.high) = criterion.worse == .less ? (ends[1], ends[0]) : (ends[0], ends[1])
        row.detectable = abs(criterion.change(effect.detectable))
        row.pValue = criterion.worse == .neither ? effect.pEither : effect.pWorse
        row.pEither = effect.pEither
        row.worsening = effect.estimate
        return row
    }

    private func medians(_ pairs: [PairRecord], _ name: FigureName) -> (Double?, Double?) {
        guard pairs.first?.points.count == 1 else { return (nil, nil) }
        return (
            median(pairs.compactMap { $0.points[0].base.value(name) }),
            median(pairs.compactMap { $0.points[0].head.value(name) })
        )
    }

    private func merged(
        _ metric: Metric, _ pairs: [PairRecord], _ point: Int, _ criterion: Criterion
    ) -> ComparedRow.Interval? {
        let sides = MergedSamples.quantiles(metric.rawValue, pairs, point)
        var random = SplitMix64(seed: engine.plan.seed)
        guard let ratio = sides?.logRatio(at: 0.99, resamples: engine.plan.resamples, using: &random) else {
            return nil
        }
        let sign = criterion.worse == .less ? -1.0 : 1.0
        let ends = [ratio.interval.low, ratio.interval.high].map { criterion.change(sign * $0) }
        return ComparedRow.Interval(change: criterion.change(sign * ratio.estimate), low: ends[0], high: ends[1])
    }
}
