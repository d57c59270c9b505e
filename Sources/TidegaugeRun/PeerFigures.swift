// Figures that compare one driver with another: each trial with the reference's trial of the same point and repetition,
// which had the same seed and ran next to it. Pure.
import TidegaugeMeasure
import TidegaugeSpec

struct PeerFigures {
    /// Of a trial and of the reference's; which has none where it did not run.
    static let providers: [Metric: @Sendable (_ own: [Figure], _ reference: [Figure]?) -> Figure] = [
        .upkeepRatio: { ratio(.upkeepRatio, of: .upkeepCost, $0, $1) }
    ]

    let reference: String?
    let trials: [KnownTrial]

    /// One for each trial that asks and is not the reference's own.
    func figures() -> [(spec: TrialSpec, figure: Figure)] {
        trials.flatMap { trial -> [(spec: TrialSpec, figure: Figure)] in
            let spec = trial.spec
            guard spec.driver != reference, spec.observers.count > 0 else { return [] }
            let other = trials.first {
                $0.spec.driver == reference && $0.spec.variant == spec.variant && $0.spec.trial == spec.trial
            }
            return spec.metrics.compactMap { Self.providers[$0] }.map { (spec, $0(trial.figures, other?.figures)) }
        }
    }

    private static func ratio(_ metric: Metric, of part: Metric, _ own: [Figure], _ reference: [Figure]?) -> Figure {
        let reference = reference?.first { $0.metric == part }
        // At the floor it is the harness that is compared with, and the ratio too small.
        let flags = reference.map { $0.flags.filter { $0 == .atFloor } } ?? [.noReference]
        guard let value = own.first(where: { $0.metric == part })?.value, let base = reference?.value, base > 0 else {
            return Figure(metric, .value, nil, n: 0, flags: flags)
        }
        return Figure(metric, .value, value / base, n: 1, flags: flags)
    }
}
