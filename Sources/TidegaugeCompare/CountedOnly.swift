// Comparisons by counts only: no times are measured, and points that should have been counted but were not are
// undecided. Pure.
import TidegaugeSpec

extension ComparisonPlan {
    /// Whether no pairs are run.
    public var isCountedOnly: Bool { pairs == 0 }

    /// Names of the points that have a counted form but are missing in `counted`, after a failure or an interruption.
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
