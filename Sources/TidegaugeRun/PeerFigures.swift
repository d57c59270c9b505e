// Figures that compare drivers: each trial with the reference driver's trial of the same point and repetition, which
// used the same seed. Pure.
import TidegaugeMeasure
import TidegaugeSpec

struct PeerFigures {
    /// Computes a figure from a trial's figures and the reference's, which are nil if the reference did not run.
    static let providers: [Metric: @Sendable (_ own: [Figure], _ reference: [Figure]?) -> Figure] = [
        .upkeepRatio: { ratio(.upkeepRatio, of: .upkeepCost, $0, $1) }
    ]

    let reference: String?
    let trials: [KnownTrial]

    /// Returns the figures of all trials with observers that request them, except the reference's.
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
        // If the reference is marked `at_floor`, it is mostly the harness's cost and the ratio is too small.
        let flags = reference.map { $0.flags.filter { $0 == .atFloor } } ?? [.noReference]
        guard let value = own.first(where: { $0.metric == part })?.value, let base = reference?.value, base > 0 else {
            return Figure(metric, .value, nil, n: 0, flags: flags)
        }
        return Figure(metric, .value, value / base, n: 1, flags: flags)
    }
}
