// Escapes strings from outside (names of scenarios and drivers, messages of engines) for output formats. Pure.

package enum Escaped {
    /// Replaces line ends and tabs by blanks, and other control characters, bidirectional embeddings, overrides and
    /// isolates by one visible character each.
    /// - Parameter keepingLines: whether line feeds stay.
    package static func visible(_ text: String, keepingLines: Bool = false) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 10 where keepingLines: scalars.append(scalar)
            case 9, 10, 13: scalars.append(" ")
            // Unicode has a symbol for each control character.
            case 0..<32: scalars.append(Unicode.Scalar(0x2400 + scalar.value)!)
            case 127: scalars.append("\u{2421}")
            case 128..<160, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Escapes text for content and attributes of XML and HTML. XML 1.0 forbids most control characters, even as
    /// references.
    static func xml(_ text: String, keepingLines: Bool = false) -> String {
        replaced(visible(text, keepingLines: keepingLines)) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: nil
            }
        }
    }

    /// Escapes text for a cell or a line of GitHub's Markdown, including markup and mentions.
    static func markdown(_ text: String) -> String {
        replaced(visible(text)) { scalar in
            "&<>|`*_[]\\~@#!".unicodeScalars.contains(scalar) ? "&#\(scalar.value);" : nil
        }
    }

    private static func replaced(_ text: String, _ entity: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if let entity = entity(scalar) { result += entity } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }
}
