// Comparisons that are decided by counts alone: no clock is asked, so no gate of one is judged, and what was to be counted and
// was not is undecided. Pure.
import TidegaugeSpec

extension ComparisonPlan {
    /// Whether no pair is to be run.
    public var isCountedOnly: Bool { pairs == 0 }

    /// Points that have a counted form and that `counted` holds nothing of, by name: a trial that failed, or an interruption.
    public func uncounted(by counted: [CountedRow]) -> [String] {
        subjects.flatMap { subject in
            subject.points.filter { point in
                point.countObstacle == nil
                    && !counted.contains {
                        ($0.scenario, $0.driver, $0.variant) == (subject.scenario, subject.driver, point.variant)
                    }
            }
            .map(subject.title)
        }
    }
}
