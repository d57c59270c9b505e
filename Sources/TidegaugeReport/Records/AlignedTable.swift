// Formats a table for a terminal: columns of words first, left-aligned, then right-aligned figures. On a narrow
// terminal words are wrapped, and columns of figures are split into several tables. Figures are never cut. Pure.

package struct AlignedTable {
    private static let gap = 2
    /// Rows, starting with the titles. All have the same length and at least `words` cells.
    private let rows: [[String]]
    /// Number of columns of words.
    private let words: Int
    /// Characters after which words may be wrapped, besides blanks.
    private let separators: Set<Character>
    /// Minimum width of a wrapped column of words.
    private let narrowest: Int
    /// Whether the first column is never wrapped, because its names are copied.
    private let keepsFirst: Bool

    package init(
        rows: [[String]], words: Int = 2, separators: Set<Character> = [";"], narrowest: Int = 12,
        keepsFirst: Bool = false
    ) {
        (self.rows, self.words, self.separators) = (rows, words, separators)
        (self.narrowest, self.keepsFirst) = (narrowest, keepsFirst)
    }

    /// - Parameter columns: width of the terminal; nil: not limited.
    package func lines(columns: Int? = nil) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        guard let columns, Self.total(widths) > columns else { return aligned(rows, widths) }
        let figures = Array(widths.dropFirst(words))
        let least = widths.prefix(words).enumerated().map { keepsFirst && $0 == 0 ? $1 : min($1, narrowest) }
        var lines: [String] = []
        for part in Self.parts(of: figures, beside: Self.total(least), within: columns) {
            let chosen = Array(figures[part])
            let room = columns - Self.total(chosen) - (chosen.isEmpty ? 0 : Self.gap)
            let own = Self.shrunk(Array(widths.prefix(words)), to: room, least)
            let cells = rows.map {
                Array(
                    $0.prefix(words) + $0.dropFirst(words)[(part.lowerBound + words)..<(part.upperBound + words)])
            }
            lines += aligned(cells.flatMap { wrapped($0, own) }, own + chosen)
        }
        return lines
    }

    private static func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + gap * max(widths.count - 1, 0) }

    /// Splits the columns of figures into groups that fit side by side, with at least one column each.
    private static func parts(of figures: [Int], beside words: Int, within columns: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        var used = words
        for (index, width) in figures.enumerated() {
            if index > start, used + gap + width > columns {
                parts.append(start..<index)
                (start, used) = (index, words)
            }
            used += gap + width
        }
        return parts + [start..<figures.count]
    }

    /// Shrinks columns to fit, the widest first.
    private static func shrunk(_ widths: [Int], to room: Int, _ least: [Int]) -> [Int] {
        var widths = widths
        while total(widths) > room {
            guard let widest = widths.indices.filter({ widths[$0] > least[$0] }).max(by: { widths[$0] < widths[$1] })
            else { break }
            widths[widest] -= 1
        }
        return widths
    }

    /// Splits a row into several lines. The first one has the figures.
    private func wrapped(_ row: [String], _ widths: [Int]) -> [[String]] {
        let pieces = zip(row, widths).map { wrapped($0, to: $1) }
        let height = pieces.map(\.count).max() ?? 1
        return (0..<height).map { line in
            pieces.map { line < $0.count ? $0[line] : "" } + row.dropFirst(words).map { line == 0 ? $0 : "" }
        }
    }

    /// Wraps text at blanks and after separators. A piece that is still too long is cut with `…`.
    private func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for piece in pieces(text) {
            let joined = lines.last! + piece
            if joined.trimmingSuffix(" ").count <= width || lines.last!.isEmpty {
                lines[lines.count - 1] = joined
            } else {
                lines.append(piece)
            }
        }
        return lines.map { line in
            let line = line.trimmingSuffix(" ")
            return line.count > width ? line.prefix(width - 1) + "…" : line
        }
    }

    private func pieces(_ text: String) -> [String] {
        var pieces = [""]
        for character in text {
            pieces[pieces.count - 1].append(character)
            if character == " " || separators.contains(character) { pieces.append("") }
        }
        return pieces.filter { !$0.isEmpty }
    }

    private func aligned(_ rows: [[String]], _ widths: [Int]) -> [String] {
        rows.map { row in
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: max(widths[column] - text.count, 0))
                return column < words ? text + padding : padding + text
            }
            return cells.joined(separator: String(repeating: " ", count: Self.gap)).trimmingSuffix(" ")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        String(self[..<(lastIndex { $0 != character }.map { index(after: $0) } ?? startIndex)])
    }
}
