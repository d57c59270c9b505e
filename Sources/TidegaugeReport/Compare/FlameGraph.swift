// The difference of two profiles as an interactive flame graph with callers above callees (B. Gregg, "Differential
// flame graphs", 2014). A self-contained SVG file. Pure; equal input gives equal text.
import Foundation
import TidegaugeProfiles
import TidegaugeSpec

public enum FlameGraph {
    /// Minimum width of a frame as a share of the whole. Narrower ones are left out.
    static let narrowest = 0.001

    private static let width = 1200.0
    private static let top = 64.0
    private static let rowHeight = 18.0
    /// Width of a letter in the labels' font.
    private static let letterWidth = 6.7

    /// Returns an SVG file. The width of a frame is the sum over its subtree of the larger exclusive cost, before or
    /// after. So removed and new functions are both visible, and children fit into their parents.
    /// - Parameters:
    ///   - difference: difference of the profiles, per operation.
    ///   - title: the compared profiles, such as `main → tip, thread 2`.
    ///   - operation: name of the operation, such as `commit`.
    public static func svg(_ difference: ProfileDifference, title: String, operation: String = "operation") -> String {
        let frames = Frame.all(of: difference.tree)
        let whole = frames[0].width
        let shown = frames.filter { whole == 0 || $0.width >= whole * narrowest }
        let depth = shown.reduce(0) { max($0, $1.depth) }
        let height = top + Double(depth + 1) * rowHeight + 10
        let unit = "instructions per \(operation)"
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 \(Int(height))\" preserveAspectRatio=\"xMidYMin\" font-size=\"11\" "
                + "font-family=\"ui-monospace, monospace\">",
            "<style>\n\(HTMLPage.text("flame.css"))\n</style>",
            "<rect class=\"page\" width=\"1200\" height=\"\(Int(height))\"/>",
            "<text class=\"heading\" x=\"10\" y=\"20\">\(Escaped.xml(title))</text>",
            "<text x=\"10\" y=\"37\">\(Escaped.xml(cost(difference.total, unit)))</text>",
            "<text class=\"quiet\" x=\"10\" y=\"53\">red grew, blue shrank; a click zooms in, Escape out; "
                + "\(leftOut(frames.count - shown.count))</text>",
            "<text id=\"found\" x=\"1190\" y=\"53\" text-anchor=\"end\"/>",
            "<foreignObject x=\"910\" y=\"8\" width=\"280\" height=\"28\"><input xmlns=\"http://www.w3.org/1999/xhtml\" "
                + "type=\"search\" aria-label=\"search\" placeholder=\"search (Ctrl-F)\"/></foreignObject>",
            "<g id=\"frames\">",
        ]
        lines += shown.map { element($0, whole, unit) }
        lines += ["</g>", "<script><![CDATA[\n\(HTMLPage.text("flame.js"))\n]]></script>", "</svg>", ""]
        return lines.joined(separator: "\n")
    }

    private static func leftOut(_ count: Int) -> String {
        "\(Humanised.count(count, "frame")) narrower than 0.1 % \(count == 1 ? "is" : "are") left out"
    }

    private static func element(_ frame: Frame, _ whole: Double, _ unit: String) -> String {
        let (x, share) = whole == 0 ? (0, 1) : (frame.x / whole, frame.width / whole)
        let y = top + Double(frame.depth) * rowHeight
        let label = cut(frame.name, width: share * width)
        let place = "data-x=\"\(number(x))\" data-w=\"\(number(share))\" data-d=\"\(frame.depth)\""
        let costs = "data-b=\"\(number(frame.inclusive.before))\" data-a=\"\(number(frame.inclusive.after))\""
        return "<g class=\"\(tone(frame.inclusive))\" \(place) \(costs)>"
            + "<title>\(Escaped.xml(frame.name))\n\(Escaped.xml(cost(frame.inclusive, unit)))</title>"
            + "<rect x=\"\(number(x * width))\" y=\"\(Int(y))\" width=\"\(number(share * width))\" height=\"17\"/>"
            + "<text x=\"\(number(x * width + 3))\" y=\"\(Int(y) + 12)\">\(Escaped.xml(label))</text></g>"
    }

    /// `1,200 → 1,266 instructions per commit, +66 (+5.5 %)`.
    private static func cost(_ cost: BeforeAfter<Double>, _ unit: String) -> String {
        let growth = cost.growth.rounded() == 0 ? "no difference" : (cost.growth > 0 ? "+" : "") + grouped(cost.growth)
        let share = cost.relative.map { ComparedCells.share($0) } ?? (cost.after == 0 ? "0 %" : "new")
        return "\(grouped(cost.before)) → \(grouped(cost.after)) \(unit), \(growth) (\(share))"
    }

    /// Style class by relative change: grey below 1 %, then steps at 1 %, 5 %, 20 % and 50 % of the larger side.
    private static func tone(_ cost: BeforeAfter<Double>) -> String {
        let share = abs(cost.growth) / max(cost.before, cost.after, .leastNormalMagnitude)
        guard let step = [0.5, 0.2, 0.05, 0.01].firstIndex(where: { share >= $0 }) else { return "same" }
        return "\(cost.growth > 0 ? "grew" : "shrank")\(4 - step)"
    }

    /// Cuts a name to the available width.
    private static func cut(_ name: String, width: Double) -> String {
        let letters = Int((width - 6) / letterWidth)
        if letters < 3 { return "" }
        return name.count <= letters ? name : name.prefix(letters - 1) + "…"
    }

    /// `1,234,567`.
    private static func grouped(_ value: Double) -> String {
        let digits = Array(String(format: "%.0f", abs(value)))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[max(0, $0 - 3)..<$0]) }
        return (value.rounded() < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    private static func number(_ value: Double) -> String {
        let text = String(format: "%.6f", value)
        return String(text.reversed().drop { $0 == "0" }.reversed()).replacing(/\.$/, with: "")
    }
}
