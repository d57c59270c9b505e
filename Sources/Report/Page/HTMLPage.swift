// What all pages have in common: a head, the style, the script, nothing from elsewhere; and how a plot stands on a page. Each
// page is a template of its own for what lies between. Pure.
import Mustache

enum HTMLPage {
    /// - Parameters:
    ///   - title: of the window; a template.
    ///   - body: from the header to the footer; a template.
    ///   - values: what both are filled with.
    /// - Throws: a template that cannot be read, which a test sees first.
    static func render(title: String, body: String, _ values: [String: Any]) throws -> String {
        var values = values
        values["style"] = PageStyle.text
        values["script"] = PageScript.text
        return try MustacheTemplate(string: start + title + middle + body + end).render(values)
    }

    /// A plot; a template, filled by `figure(_:)`.
    static let figure = """
        <figure>
        <figcaption>{{title}}</figcaption>
        {{{svg}}}
        <ul class="legend">{{#legend}}<li class="c{{slot}}"><label><input type="checkbox" value="{{slot}}" checked><span>{{label}}</span></label></li>{{/legend}}</ul>
        <p class="quiet">{{caption}}</p>
        </figure>
        """

    /// What the template of a plot is filled with.
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

    private static let start = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>
        """

    private static let middle = """
        </title>
        <style>
        {{{style}}}
        </style>
        </head>
        <body>

        """

    private static let end = """
        <script type="module">
        {{{script}}}
        </script>
        </body>
        </html>

        """
}
