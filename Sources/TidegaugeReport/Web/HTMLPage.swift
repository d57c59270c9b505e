// Parts shared by all pages: head, style, script and plots. Templates, style and script are files in
// `Sources/TidegaugeReport/Pages`, which the build embeds (`Tools/TidegaugeEmbedTexts`). Pure.
import Mustache

enum HTMLPage {
    /// - Parameters:
    ///   - name: template of the body, a file in `Pages`.
    ///   - title: title of the window.
    ///   - values: values for the template.
    /// - Throws: an error if the template cannot be parsed.
    static func render(_ name: String, title: String, _ values: [String: Any]) throws -> String {
        let body = try MustacheTemplate(string: template(name)).render(values)
        let page = ["title": title, "body": body, "style": text("page.css"), "script": text("page.js")]
        return try MustacheTemplate(string: template("page")).render(page) + "\n"
    }

    /// Returns a file of `Pages` without its final line break.
    static func text(_ file: String) -> String {
        guard let text = PageTexts.texts[file] else {
            preconditionFailure("Sources/TidegaugeReport/Pages has no \(file)")
        }
        return String(text.dropLast())
    }

    /// Returns a template with all included templates (`{{> name}}`) inserted.
    static func template(_ name: String) -> String {
        text("\(name).html").replacing(/\{\{> ([a-z-]+)\}\}/) { template(String($0.output.1)) }
    }

    /// Values for the template `figure`.
    static func figure(_ plot: Plot) -> [String: Any] {
        [
            "title": Escaped.visible(plot.title), "caption": plot.caption, "svg": PlotSVG.text(plot),
            "legend": plot.series.compactMap { series in
                series.label.map {
                    [
                        "slot": "\(series.slot)", "colour": "\(series.colour)", "label": Escaped.visible($0),
                        "dash": series.dash > 0 ? " d\(series.dash)" : "",
                    ]
                }
            },
        ]
    }

    /// Keeps the mark of the better direction on the line of the word before it.
    static func marked(_ text: String) -> String {
        Escaped.visible(text).replacing(" ↓", with: "\u{a0}↓").replacing(" ↑", with: "\u{a0}↑")
    }

    /// Allows line breaks after semicolons by zero-width spaces.
    static func breakable(_ text: String) -> String { Escaped.visible(text).replacing(";", with: ";\u{200B}") }
}
