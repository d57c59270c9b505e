// gnuplot's SVG made part of a page: without prologue, script and names that two pictures would share, and with the page's
// colours instead of its own. Pure.
import Foundation

enum SVGTheme {
    /// The one shape that curves of points use; stands once in the page.
    static let shapes =
        "<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><circle id=\"dot\" r=\"1\" stroke=\"none\" "
        + "fill=\"currentColor\"/></defs></svg>"

    /// nil where `svg` is not whole: gnuplot was stopped, or drew nothing.
    static func themed(_ svg: String) -> String? {
        guard let body = between("<g id=\"gnuplot_canvas\">", "</svg>", in: svg) else { return nil }
        var lines: [Substring] = []
        var isInDefinitions = false
        for line in body.split(separator: "\n") {
            if line.contains("<defs>") { isInDefinitions = true }
            if !isInDefinitions {
                // A curve's group has a name and a title of gnuplot's own.
                lines.append(line.contains("<g id=\"gnuplot_plot_") ? "<g>" : line)
            }
            if line.contains("</defs>") { isInDefinitions = false }
        }
        var text = withoutEmptyGroups(lines).joined(separator: "\n")
        for slot in 1...Plot.slots {
            let padded = slot < 10 ? "  \(slot)" : " \(slot)"
            text = text.replacingOccurrences(of: "stroke='rgb(  0,   0, \(padded))'", with: "class=\"p\(slot)\"")
            text = text.replacingOccurrences(of: "color='rgb(  0,   0, \(padded))'", with: "class=\"c\(slot)\"")
        }
        for (old, new) in [
            ("xlink:href='#gpPt6'", "href=\"#dot\""), (" color=\"black\"", ""), (" color=\"gray\"", ""),
            ("stroke='black'", ""), ("fill=\"black\"", "fill=\"currentColor\""), ("stroke='gray'", ""),
            (" font-family=\"sans-serif\"", ""), ("<tspan >", "<tspan>"),
            // gnuplot's prefix for a millionth is an ASCII letter.
            (" us</tspan>", " µs</tspan>"),
            (" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""),
        ] {
            text = text.replacingOccurrences(of: old, with: new)
        }
        return "<svg viewBox=\"0 0 420 270\" role=\"img\">\n<g>\n\(text)\n</svg>"
    }

    /// gnuplot opens a group for each change of pen, used or not.
    private static func withoutEmptyGroups(_ lines: [Substring]) -> [Substring] {
        var kept: [Substring] = []
        for line in lines {
            if line == "</g>", let last = kept.last, last.hasPrefix("<g fill="), last.hasSuffix(">"),
                !last.contains("</g>"), !last.contains("/>")
            {
                kept.removeLast()
            } else {
                kept.append(line)
            }
        }
        return kept
    }

    private static func between(_ start: String, _ end: String, in text: String) -> Substring? {
        guard let from = text.range(of: start), let until = text.range(of: end, options: .backwards),
            from.upperBound < until.lowerBound
        else { return nil }
        return text[from.upperBound..<until.lowerBound]
    }
}
