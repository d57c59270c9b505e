// Which of two figures of a metric is the better one, in words and as a mark. Pure.
import TidegaugeSpec

extension MetricEntry.Worse {
    /// `lower is better`; nil for a metric of which neither is.
    package var direction: String? {
        switch self {
        case .more: "lower is better"
        case .less: "higher is better"
        case .neither: nil
        }
    }

    /// `↓`: lower is better; `↑`: higher is better; empty if neither is.
    public var mark: String {
        switch self {
        case .more: "↓"
        case .less: "↑"
        case .neither: ""
        }
    }
}

enum Direction {
    /// Explanation of the marks of `MetricEntry.Worse`, and of the figures beside them.
    static let legend = "↓ lower is better, ↑ higher is better; figures are medians over the trials of a point"
}
