// Converts pairs to rows: gates by the stages of the comparison, other figures as advice with a controlled rate of
// false discoveries. A gate is the figure by which a scenario compares commits. Pure, with seeded resampling.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

public struct Judge: Sendable {
    /// Maximum expected share of false alarms among the advised figures.
    public static let falseDiscoveryRate = 0.05

    private let engine: ComparisonEngine

    public init(_ engine: ComparisonEngine) { self.engine = engine }

    /// Returns the gates in the order of the plan, then the other figures. Empty if only counts were requested.
    public func rows() -> [ComparedRow] {
        engine.plan.isCountedOnly ? [] : engine.tracks.map(gate) + advised(engine.tracks.flatMap(others))
    }

    // MARK: Gates

    private func gate(_ track: GateTrack) -> ComparedRow {
        let pairs = judged(track)
        let point = track.subject.points.count == 1 ? 0 : nil
        let figure = PairedFigure(track.gate, pairs, point: point)
        var row = self.row(track.subject, point, figure, isGate: true)
        if let point {
            row.base = median(pairs.compactMap { $0.points[point].base.value(figure.name) })
            row.head = median(pairs.compactMap { $0.points[point].head.value(figure.name) })
        }
        (row.verdict, row.remark) = verdict(track, figure)
        guard !row.isDecided else { return row }
        row.remark = ([row.remark] + doubts(track, figure.effect)).filter { !$0.isEmpty }.joined(separator: "; ")
        row.pairsToDecide = figure.effect?.pairsToDecide(figure.criterion.delta)
        return row
    }

    /// Returns the fresh pairs if they decided or suffice for an interval, because the gate was selected for high
    /// values in the pairs of the screen.
    private func judged(_ track: GateTrack) -> [PairRecord] {
        switch track.state {
        case .confirmed where !track.isDirect, .refuted: track.confirm
        case .confirming where track.confirmEffect?.low != nil: track.confirm
        case .confirming: track.screen + track.confirm
        case .screening, .screened, .confirmed, .failing: track.screen
        }
    }

    private func verdict(_ track: GateTrack, _ figure: PairedFigure) -> (Verdict, String) {
        if track.state == .failing { return (.inconclusive, "trials do not complete") }
        if track.attempts == 0 { return (.inconclusive, (track.isTold ? "counts tell it: " : "") + "no pair was run") }
        guard let effect = figure.effect else {
            return (.inconclusive, track.voids.isEmpty ? "no pair has this figure" : "")
        }
        let delta = figure.criterion.delta
        switch track.state {
        case .confirmed where track.isDirect: return (.regressed, "decided in one test of all gates")
        case .confirmed: return (.regressed, "confirmed on fresh pairs")
        case .refuted where effect.isUnder(delta): return (.unchanged, "a first suspicion was not confirmed")
        case .refuted: return (open(effect, delta), "fresh pairs did not confirm a suspicion")
        case .confirming: return (open(effect, delta), "its confirmation was not finished")
        default: break
        }
        if figure.criterion.worse == .neither {
            let isShifted = effect.pEither < 0.01 && abs(effect.estimate) > delta
            return (isShifted ? .shifted : .inconclusive, "")
        }
        if effect.pBetter < 0.01, effect.estimate < -delta { return (.improved, "") }
        if effect.isUnder(delta) { return (.unchanged, "") }
        return (open(effect, delta), effect.isSuspicious(delta) ? "there was no time to confirm it" : "")
    }

    private func open(_ effect: PairedEffect, _ delta: Double) -> Verdict {
        effect.isSuspicious(delta) ? .suspected : .inconclusive
    }

    /// Reasons why the gate is undecided: noise, the budget, an interruption, or too few pairs.
    private func doubts(_ track: GateTrack, _ effect: PairedEffect?) -> [String] {
        var doubts: [String] = []
        if track.isCutShort { doubts.append("noisy machine: \(track.voids.count) void pairs") }
        if let budget = engine.plan.budgetSeconds, engine.spentSeconds >= budget {
            doubts.append("the budget ended")
        } else if track.state == .screening, !track.isCutShort {
            doubts.append("not finished")
        }
        if let effect, effect.detectable == nil {
            doubts.append(
                "\(effect.pairs) pair\(effect.pairs == 1 ? " is" : "s are") too few for any verdict (α = 1 %)")
        }
        return doubts
    }

    // MARK: Advice

    private func others(_ track: GateTrack) -> [ComparedRow] {
        let all = track.screen + track.confirm + track.voids
        return track.subject.points.indices.flatMap { point -> [ComparedRow] in
            let base = names(all.flatMap { $0.points[point].base.values })
            let head = names(all.flatMap { $0.points[point].head.values })
            return base.union(head).sorted().compactMap { name -> ComparedRow? in
                if Metric(rawValue: name.metric)?.entry.subject == .harness { return nil }
                if name == track.gate, track.subject.points.count == 1 { return nil }
                let pairs = track.goodPairs(for: name)
                if pairs.isEmpty { return nil }
                return base.contains(name) && head.contains(name)
                    ? advice(track.subject, name, pairs, point)
                    : oneSided(track.subject, name, pairs, point, isBase: base.contains(name))
            }
        }
    }

    private func names(_ values: [SideTrial.Value]) -> Set<FigureName> {
        Set(values.map(\.name).filter { !["count", "min", "max"].contains($0.statistic) })
    }

    private func advice(
        _ subject: ComparedSubject, _ name: FigureName, _ pairs: [PairRecord], _ point: Int
    ) -> ComparedRow {
        let values = pairs.compactMap { $0.values(name, point: point)?.first }
        let figure = PairedFigure(name, pairs, point: point)
        let criterion = figure.criterion
        var row = self.row(subject, point, figure)
        (row.base, row.head) = (median(values.map(\.base)), median(values.map(\.head)))
        if let effect = figure.effect {
            row.verdict = effect.isUnder(criterion.delta) && criterion.worse != .neither ? .unchanged : .inconclusive
            row.pairsToDecide = effect.pairsToDecide(criterion.delta)
        }
        if name.statistic == "p99", let metric = Metric(rawValue: name.metric) {
            var random = SplitMix64(seed: engine.plan.seed)
            row.merged = MergedSamples.quantiles(metric.rawValue, pairs, point)?
                .logRatio(at: 0.99, resamples: engine.plan.resamples, using: &random).map(Criterion(name).interval)
        }
        return row
    }

    private func oneSided(
        _ subject: ComparedSubject, _ name: FigureName, _ pairs: [PairRecord], _ point: Int, isBase: Bool
    ) -> ComparedRow? {
        let values = pairs.compactMap { (isBase ? $0.points[point].base : $0.points[point].head).value(name) }
        // A figure that one side has in few pairs only, such as a percentile with enough samples in those, is left out.
        guard pairs.count >= 5, values.count > pairs.count / 2 else { return nil }
        var row = self.row(subject, point, PairedFigure(name, []))
        (row.verdict, row.pairs) = (isBase ? .onlyBase : .onlyHead, values.count)
        if isBase { row.base = median(values) } else { row.head = median(values) }
        return row
    }

    /// Sets verdicts of figures that are significant after adjustment and exceed the threshold.
    private func advised(_ rows: [ComparedRow]) -> [ComparedRow] {
        var rows = rows
        let tested = rows.indices.filter { rows[$0].pValue != nil }
        let adjusted = ManyTests.benjaminiHochberg(tested.map { rows[$0].pEither! })
        for (index, q) in zip(tested, adjusted) {
            rows[index].qValue = q
            guard q < Self.falseDiscoveryRate, let worsening = rows[index].worsening, let delta = rows[index].delta,
                abs(worsening) > delta
            else { continue }
            let isNeutral = Criterion(rows[index].name).worse == .neither
            rows[index].verdict = isNeutral ? .shifted : worsening > 0 ? .regressed : .improved
            rows[index].pairsToDecide = nil
        }
        return rows
    }

    // MARK: Parts

    /// - Parameter point: nil: all points together.
    private func row(
        _ subject: ComparedSubject, _ point: Int?, _ figure: PairedFigure, isGate: Bool = false
    ) -> ComparedRow {
        let criterion = figure.criterion
        var row = ComparedRow(
            scenario: subject.scenario, driver: subject.driver,
            variant: point.map { subject.points[$0].variant } ?? ComparedRow.overSweep, name: figure.name,
            criterion: criterion, isGate: isGate, pairs: figure.effect?.pairs ?? 0)
        guard let effect = figure.effect else { return row }
        row.change = criterion.change(effect.estimate)
        let ends = [effect.low, effect.high].map { $0.map(criterion.change) }
        (row.low, row.high) = criterion.worse == .less ? (ends[1], ends[0]) : (ends[0], ends[1])
        row.detectable = effect.detectable.map { abs(criterion.change($0)) }
        row.pValue = criterion.worse == .neither ? effect.pEither : effect.pWorse
        (row.pEither, row.worsening, row.delta) = (effect.pEither, effect.estimate, criterion.delta)
        return row
    }
}
