// State of one subject (a scenario on a driver, with its gate) in a comparison: screening, possibly confirmation,
// decision. `ComparisonEngine` adds its pairs. Pure.
import TidegaugeMeasure
import TidegaugeStatistics

public struct GateTrack: Sendable {
    public enum State: Sendable, Equatable {
        case screening
        case confirming
        /// Screened, and not selected for confirmation.
        case screened
        case confirmed
        /// Selected, and not confirmed by fresh pairs.
        case refuted
        /// Given up, because trials of several pairs did not complete.
        case failing
    }

    /// Maximum number of pairs with failed trials before the subject is given up.
    private static let mostFailures = 2

    public let subject: ComparedSubject
    public internal(set) var state = State.screening
    /// Whether it was found red by a single look at all gates, without a second stage: see `BudgetSplit`.
    public internal(set) var isDirect = false
    /// Whether too many pairs of the stage were void. It gets no more pairs, and the valid ones decide.
    public private(set) var isCutShort = false
    /// Valid pairs, by stage.
    public private(set) var screen: [PairRecord] = []
    public private(set) var confirm: [PairRecord] = []
    public private(set) var voids: [PairRecord] = []
    /// Whether the gate is counted, so that noise does not void pairs.
    public let isCounted: Bool
    /// Whether counts decided the gate before the first pair.
    public let isTold: Bool
    public private(set) var failed: [PairRecord] = []
    /// Index of the next look in confirmation.
    var nextLook = 0

    init(_ subject: ComparedSubject, isTold: Bool) {
        (self.subject, self.isTold) = (subject, isTold)
        isCounted = Criterion(FigureName(subject.gate, subject.statistic)).isCounted
    }

    /// Number of pairs that were run, valid or not.
    public var attempts: Int { screen.count + confirm.count + voids.count + failed.count }

    var isScreening: Bool { state == .screening }
    var isConfirming: Bool { state == .confirming }
    /// Whether the current stage may have another pair.
    var wantsPairs: Bool { (isScreening || isConfirming) && !isCutShort }

    mutating func beginConfirming() {
        state = .confirming
        isCutShort = false
    }

    /// - Parameter planned: planned number of pairs of a stage, so that void pairs at its start are not a large share.
    mutating func take(_ record: PairRecord, _ rule: VoidRule, planned: Int) {
        if !record.failures.isEmpty {
            failed.append(record)
            if failed.count > Self.mostFailures { state = .failing }
        } else if record.void != nil, !isCounted {
            voids.append(record)
            let good = (record.stage == .screen ? screen : confirm).count
            let void = voids.count { $0.stage == record.stage }
            if void > rule.mostVoids(pairs: max(good, planned)) { isCutShort = true }
        } else {
            switch record.stage {
            case .screen: screen.append(record)
            case .confirm: confirm.append(record)
            }
        }
    }

    /// Median length of a pair, without the pauses after void pairs if there are valid ones.
    public var secondsPerPair: Double {
        median((screen + confirm).map(\.lengthSeconds)) ?? median((voids + failed).map(\.lengthSeconds)) ?? 0
    }

    /// Returns the valid pairs for a figure. For counted figures, void pairs are valid too.
    public func goodPairs(for name: FigureName) -> [PairRecord] {
        Criterion(name).isCounted ? screen + confirm + voids : (screen + confirm).filter { $0.void == nil }
    }

    // MARK: The gate's figure

    /// The judged statistic. It is chosen by which statistics the first valid pair has, not by their values.
    public var gate: FigureName {
        let wanted = FigureName(subject.gate, subject.statistic)
        guard let first = screen.first, wanted.statistic != "value" else { return wanted }
        let candidates = [wanted, FigureName(subject.gate, "mean")]
        return candidates.first { name in first.values(name) != nil } ?? wanted
    }

    /// Criterion from the valid pairs of both stages, for reports.
    public var criterion: Criterion { PairedFigure(gate, screen + confirm).criterion }
    var screened: PairedFigure { PairedFigure(gate, screen) }
    var confirmed: PairedFigure { PairedFigure(gate, confirm) }

    public var screenEffect: PairedEffect? { screened.effect }
    public var confirmEffect: PairedEffect? { confirmed.effect }

    /// Whether eight or more pairs show that the gate is unchanged or a hit. A budget then screens other gates.
    var isDecided: Bool {
        let figure = screened
        guard let effect = figure.effect, screen.count >= 8 else { return false }
        return effect.isUnder(figure.criterion.delta) || Screen.isHit(effect, delta: figure.criterion.delta)
    }
}

extension PairRecord {
    /// Returns how much worse the head is over all sweep points on `criterion`'s scale (default: the metric's): the
    /// mean of the logarithms or differences, with equal weights. Nil if a point lacks the figure or a logarithm.
    public func worsening(_ name: FigureName, on criterion: Criterion? = nil) -> Double? {
        guard let values = values(name) else { return nil }
        let criterion = criterion ?? Criterion(name)
        let effects = values.compactMap { criterion.worsening(base: $0.base, head: $0.head) }
        return effects.count == values.count ? mean(effects) : nil
    }
}
