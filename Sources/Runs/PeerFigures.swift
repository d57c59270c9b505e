// Figures that compare one driver with another: each trial with the reference's trial of the same point and repetition,
// which had the same seed and ran next to it. Pure.
import Measure
import Scenario

struct PeerFigures {
    let reference: String?
    private var trials: [(spec: TrialSpec, upkeepCost: Figure?)] = []

    init(reference: String?) { self.reference = reference }

    mutating func add(_ spec: TrialSpec, upkeepCost: Figure?) { trials.append((spec, upkeepCost)) }

    /// One for each trial that asks and is not the reference's own.
    func figures() -> [(spec: TrialSpec, figure: Figure)] {
        trials.compactMap { spec, cost in
            guard spec.measure.contains(Metric.upkeepRatio.rawValue), spec.driver != reference,
                spec.observers.count > 0
            else { return nil }
            let other = trials.first {
                $0.spec.driver == reference && $0.spec.variant == spec.variant && $0.spec.trial == spec.trial
            }
            return (spec, ratio(cost, to: other?.upkeepCost))
        }
    }

    private func ratio(_ cost: Figure?, to reference: Figure?) -> Figure {
        guard let reference else { return Figure(.upkeepRatio, .value, nil, n: 0, flags: ["no_reference"]) }
        // At the floor it is the harness that is compared with, and the ratio too small.
        let flags = reference.flags.filter { $0 == "at_floor" }
        guard let cost = cost?.value, let base = reference.value, base > 0 else {
            return Figure(.upkeepRatio, .value, nil, n: 0, flags: flags)
        }
        return Figure(.upkeepRatio, .value, cost / base, n: 1, flags: flags)
    }
}
