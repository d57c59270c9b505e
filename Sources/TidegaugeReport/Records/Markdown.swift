// Parts of Markdown texts. Pure.

enum Markdown {
    /// Alignment of a column.
    enum Column { case word, figure }

    static func table(_ titles: [String], _ columns: [Column], _ rows: [[String]]) -> String {
        let rule = columns.map { $0 == .word ? "---|" : "--:|" }.joined()
        let lines = ([titles] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }
        return lines[0] + "|\(rule)\n" + lines.dropFirst().joined()
    }

    /// - Parameter words: number of columns of words, which precede the figures.
    static func table(_ titles: [String], words: Int, _ rows: [[String]]) -> String {
        table(titles, titles.indices.map { $0 < words ? .word : .figure }, rows)
    }

    static func folded(_ title: String, _ body: String) -> String {
        "<details><summary>\(title)</summary>\n\n\(body)\n</details>\n\n"
    }
}
