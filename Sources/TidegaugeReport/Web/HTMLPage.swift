// Parts that all pages share: the head, the style, the script and plots. The templates, the style and the script are the files of
// `Sources/TidegaugeReport/Pages`, which the build embeds (`Tools/TidegaugeEmbedTexts`). Pure.
import Mustache

enum HTMLPage {
    /// - Parameters:
    ///   - name: the template of the body, a file of `Pages`.
    ///   - title: the title of the window.
    ///   - values: the values that fill the template.
    /// - Throws: an error of a template that cannot be parsed, which a test sees first.
    static func render(_ name: String, title: String, _ values: [String: Any]) throws -> String {
        let body = try MustacheTemplate(string: template(name)).render(values)
        let page = ["title": title, "body": body, "style": text("page.css"), "script": text("page.js")]
        return try MustacheTemplate(string: template("page")).render(page) + "\n"
    }

    /// A file of `Pages`, without the line break at its end.
    static func text(_ file: String) -> String {
        guard let text = PageTexts.texts[file] else {
            preconditionFailure("Sources/TidegaugeReport/Pages has no \(file)")
        }
        return String(text.dropLast())
    }

    /// A template with the templates in place that it includes as `{{> name}}`.
    static func template(_ name: String) -> String {
        text("\(name).html").replacing(/\{\{> ([a-z-]+)\}\}/) { template(String($0.output.1)) }
    }

    /// Values for the template `figure`.
    static func figure(_ plot: Plot) -> [String: Any] {
        [
            "title": Escaped.visible(plot.title), "caption": plot.caption, "svg": PlotSVG.text(plot),
            "legend": plot.series.compactMap { series in
                series.label.map { ["slot": "\(series.slot)", "label": Escaped.visible($0)] }
            },
        ]
    }

    /// Long variants may wrap behind a semicolon: a zero-width space says where.
    static func breakable(_ text: String) -> String { Escaped.visible(text).replacing(";", with: ";\u{200B}") }
}
