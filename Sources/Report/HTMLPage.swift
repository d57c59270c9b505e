// What all pages have in common: a head, the style, no script and nothing from elsewhere; and how a plot stands on a page.
// Each page is a template of its own for what lies between. Pure.
import Mustache

enum HTMLPage {
    /// - Parameters:
    ///   - title: of the window; a template.
    ///   - body: from the header to the footer; a template.
    ///   - values: what both are filled with.
    /// - Throws: a template that cannot be read, which a test sees first.
    static func render(title: String, body: String, _ values: [String: Any]) throws -> String {
        var values = values
        values["style"] = HTMLReport.style
        values["shapes"] = SVGTheme.shapes
        return try MustacheTemplate(string: start + title + middle + body + end).render(values)
    }

    /// A plot drawn, or the word on why it is missing; a template.
    static let figure = """
        <figure>
        <figcaption>{{title}}</figcaption>
        {{#svg}}
        {{{svg}}}
        {{/svg}}
        {{#missing}}
        <p class="missing">{{missing}}</p>
        {{/missing}}
        <ul class="legend">{{#legend}}<li class="c{{slot}}"><span>{{label}}</span></li>{{/legend}}</ul>
        <p class="quiet">{{caption}}</p>
        </figure>
        """

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
        {{{shapes}}}

        """

    private static let end = """
        </body>
        </html>

        """
}
