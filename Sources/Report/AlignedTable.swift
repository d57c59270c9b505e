// A table of words and figures as lines of a terminal: the first two columns to the left, figures to the right. On a terminal
// that is too narrow words are wrapped, and then columns of figures stand below one another; no figure is ever cut off. Pure.

struct AlignedTable {
    private static let gap = 2
    /// Of a column of words: narrower ones cannot be read.
    private static let narrowest = 12
    private static let words = 2

    /// The titles are the first. Rows of one length, with two cells at least.
    let rows: [[String]]

    /// - Parameter columns: of the terminal; nil: as wide as it is.
    func lines(columns: Int? = nil) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        guard let columns, Self.total(widths) > columns else { return Self.lines(rows, widths) }
        let figures = Array(widths.dropFirst(Self.words))
        let least = widths.prefix(Self.words).map { min($0, Self.narrowest) }
        var lines: [String] = []
        for part in Self.parts(of: figures, beside: Self.total(least), within: columns) {
            let chosen = Array(figures[part])
            let room = columns - Self.total(chosen) - (chosen.isEmpty ? 0 : Self.gap)
            let own = Self.shrunk(Array(widths.prefix(Self.words)), to: room, least)
            let cells = rows.map {
                Array(
                    $0.prefix(Self.words)
                        + $0.dropFirst(Self.words)[(part.lowerBound + Self.words)..<(part.upperBound + Self.words)])
            }
            lines += Self.lines(cells.flatMap { Self.wrapped($0, own) }, own + chosen)
        }
        return lines
    }

    private static func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + gap * max(widths.count - 1, 0) }

    /// Columns of figures that stand side by side, one at least.
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

    /// The wider column gives first.
    private static func shrunk(_ widths: [Int], to room: Int, _ least: [Int]) -> [Int] {
        var widths = widths
        while total(widths) > room {
            guard let widest = widths.indices.filter({ widths[$0] > least[$0] }).max(by: { widths[$0] < widths[$1] })
            else { break }
            widths[widest] -= 1
        }
        return widths
    }

    /// A row as several: its figures stand in the first.
    private static func wrapped(_ row: [String], _ widths: [Int]) -> [[String]] {
        let pieces = zip(row, widths).map { wrapped($0, to: $1) }
        let height = pieces.map(\.count).max() ?? 1
        return (0..<height).map { line in
            pieces.map { line < $0.count ? $0[line] : "" } + row.dropFirst(words).map { line == 0 ? $0 : "" }
        }
    }

    /// Broken behind `;` and at blanks; a piece that is still too long ends in `…`.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
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

    private static func pieces(_ text: String) -> [String] {
        var pieces = [""]
        for character in text {
            pieces[pieces.count - 1].append(character)
            if character == ";" || character == " " { pieces.append("") }
        }
        return pieces.filter { !$0.isEmpty }
    }

    private static func lines(_ rows: [[String]], _ widths: [Int]) -> [String] {
        rows.map { row in
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: max(widths[column] - text.count, 0))
                return column < words ? text + padding : padding + text
            }
            return cells.joined(separator: String(repeating: " ", count: gap)).trimmingSuffix(" ")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        String(self[..<(lastIndex { $0 != character }.map { index(after: $0) } ?? startIndex)])
    }
}
