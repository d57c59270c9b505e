// One subject on its way through a comparison: screened, perhaps confirmed, decided. Fed with pairs by `ComparisonEngine`.
// Pure.
import TidegaugeMeasure
import TidegaugeStatistics

public struct GateTrack: Sendable {
    public enum State: Sendable, Equatable {
        case screening
        case confirming
        /// Screened, and not worth a second stage.
        case screened
        case confirmed
        /// A hit that fresh pairs did not bear out.
        case refuted
        /// Trials of a side do not complete.
        case failing
    }

    /// So often a trial may fail before the subject is given up.
    private static let mostFailures = 2

    public let subject: ComparedSubject
    public internal(set) var state = State.screening
    /// Called by one look at all gates, without a second stage: see `BudgetSplit`.
    public internal(set) var isDirect = false
    /// More pairs of the stage were void than the rule allows: it has no more of them, and what the good ones say stands.
    public private(set) var isCutShort = false
    /// Pairs that count, by stage.
    public private(set) var screen: [PairRecord] = []
    public private(set) var confirm: [PairRecord] = []
    public private(set) var voids: [PairRecord] = []
    /// Whether noise leaves the gate's figure alone, so that no pair is void for it.
    public let isCounted: Bool
    /// Whether counts have told what the gate asks, before the first pair.
    public let isTold: Bool
    public private(set) var failed: [PairRecord] = []
    /// The look of the confirming stage that comes next.
    var nextLook = 0

    init(_ subject: ComparedSubject, isTold: Bool) {
        (self.subject, self.isTold) = (subject, isTold)
        isCounted = Criterion(FigureName(subject.gate, subject.statistic)).isCounted
    }

    /// Pairs that were run, whatever became of them.
    public var attempts: Int { screen.count + confirm.count + voids.count + failed.count }

    var isScreening: Bool { state == .screening }
    var isConfirming: Bool { state == .confirming }
    /// Whether the stage it is in may have another pair.
    var wantsPairs: Bool { (isScreening || isConfirming) && !isCutShort }

    mutating func beginConfirming() {
        state = .confirming
        isCutShort = false
    }

    /// - Parameter planned: pairs that a stage is to have: a few void ones at its start are not a share of it.
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

    /// Seconds that a pair takes; without the pauses behind void ones, where there are others.
    public var secondsPerPair: Double {
        median((screen + confirm).map(\.lengthSeconds)) ?? median((voids + failed).map(\.lengthSeconds)) ?? 0
    }

    /// Pairs that count for a figure: those of the gate; of what noise cannot touch, void ones too.
    public func goodPairs(for name: FigureName) -> [PairRecord] {
        Criterion(name).isCounted ? screen + confirm + voids : (screen + confirm).filter { $0.void == nil }
    }

    // MARK: The gate's figure

    /// The statistic that is judged: fixed by the first pair that counts, from what it has and not from what it says.
    public var gate: FigureName {
        let wanted = FigureName(subject.gate, subject.statistic)
        guard let first = screen.first, wanted.statistic != "value" else { return wanted }
        let candidates = [wanted, FigureName(subject.gate, "mean")]
        return candidates.first { name in first.values(name) != nil } ?? wanted
    }

    /// Of all pairs that count, so that both stages are told on one scale.
    public var criterion: Criterion { PairedFigure(gate, screen + confirm).criterion }
    var screened: PairedFigure { PairedFigure(gate, screen) }
    var confirmed: PairedFigure { PairedFigure(gate, confirm) }

    public var screenEffect: PairedEffect? { screened.effect }
    public var confirmEffect: PairedEffect? { confirmed.effect }

    /// Whether more screening would change what is said.
    var isDecided: Bool {
        let figure = screened
        guard let effect = figure.effect, screen.count >= 8 else { return false }
        return effect.isUnder(figure.criterion.delta) || Screen.isHit(effect, delta: figure.criterion.delta)
    }
}

extension PairRecord {
    /// How much worse the head is over all points of the sweep, on `criterion`'s scale (default: the metric's own): the mean
    /// of the logarithms, so each point weighs the same. nil where a point lacks the figure, or its values a logarithm.
    public func worsening(_ name: FigureName, on criterion: Criterion? = nil) -> Double? {
        guard let values = values(name) else { return nil }
        let criterion = criterion ?? Criterion(name)
        let effects = values.compactMap { criterion.worsening(base: $0.base, head: $0.head) }
        return effects.count == values.count ? mean(effects) : nil
    }
}
