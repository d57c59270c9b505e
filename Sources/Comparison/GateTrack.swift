// One subject on its way through a comparison: screened, perhaps confirmed, decided. Fed with pairs by `ComparisonEngine`.
// Pure.
import Measure
import Statistics

public struct GateTrack: Sendable {
    public enum State: Sendable, Equatable {
        case screening
        case confirming
        /// Screened, and not worth a second stage.
        case screened
        case confirmed
        /// A hit that fresh pairs did not bear out.
        case refuted
        /// More void pairs than the rule allows.
        case noisy
        /// Trials of a side do not complete.
        case failing
    }

    /// So often a trial may fail before the subject is given up.
    private static let mostFailures = 2

    public let subject: ComparedSubject
    public internal(set) var state = State.screening
    /// Pairs that count, by stage.
    public private(set) var screen: [PairRecord] = []
    public private(set) var confirm: [PairRecord] = []
    public private(set) var voids: [PairRecord] = []
    public private(set) var failed: [PairRecord] = []
    /// The look of the confirming stage that comes next.
    var nextLook = 0

    init(_ subject: ComparedSubject) { self.subject = subject }

    /// Pairs that were run, whatever became of them.
    public var attempts: Int { screen.count + confirm.count + voids.count + failed.count }

    var isScreening: Bool { state == .screening }
    var isConfirming: Bool { state == .confirming }

    /// - Parameter planned: pairs that the screening stage is to have: a few void ones at its start are not a share of it.
    mutating func take(_ record: PairRecord, _ rule: VoidRule, planned: Int) {
        if !record.failures.isEmpty {
            failed.append(record)
            if failed.count > Self.mostFailures { state = .failing }
        } else if record.void != nil {
            voids.append(record)
            if voids.count > rule.mostVoids(pairs: max(screen.count + confirm.count, planned)) { state = .noisy }
        } else {
            switch record.stage {
            case .screen: screen.append(record)
            case .confirm: confirm.append(record)
            }
        }
    }

    /// Seconds that a pair takes.
    var secondsPerPair: Double { median((screen + confirm).map(\.lengthSeconds)) ?? 0 }

    // MARK: The gate's figure

    /// The statistic that is judged: fixed by the first pair that counts, from what it has and not from what it says.
    public var gate: FigureName {
        let wanted = FigureName(subject.gate, subject.statistic)
        guard let first = screen.first, wanted.statistic != "value" else { return wanted }
        let candidates = [wanted, FigureName(subject.gate, "mean")]
        return candidates.first { name in first.worsening(name) != nil } ?? wanted
    }

    public var criterion: Criterion { Criterion(metric: gate.metric, statistic: gate.statistic) }

    public var screenEffect: PairedEffect? { effect(screen) }
    public var confirmEffect: PairedEffect? { effect(confirm) }

    private func effect(_ pairs: [PairRecord]) -> PairedEffect? {
        PairedEffect(pairs.compactMap { $0.worsening(gate) })
    }

    /// Whether more screening would change what is said.
    var isDecided: Bool {
        guard let effect = screenEffect, screen.count >= 8 else { return false }
        return effect.isUnder(criterion.delta) || Screen.isHit(effect, delta: criterion.delta)
    }
}

extension PairRecord {
    /// How much worse the head is over all points of the sweep: the mean of the logarithms, so each point weighs the same.
    /// nil where a point lacks the figure.
    public func worsening(_ name: FigureName) -> Double? {
        let criterion = Criterion(metric: name.metric, statistic: name.statistic)
        let all = points.map { point -> Double? in
            guard let base = point.base.value(name), let head = point.head.value(name) else { return nil }
            return criterion.worsening(base: base, head: head)
        }
        let known = all.compactMap { $0 }
        return known.count == points.count ? mean(known) : nil
    }
}
