// The word that was probably meant. Pure functions over short words; quadratic in their length.

public enum Nearest {
    /// Words that had to go, because one YAML or another takes them for a truth or for nothing, and what is said instead.
    private static let renamed = [
        "null": ["noop"], "on": ["runs_on", "on_time"], "off": ["off_time"],
        "writers.on": ["writers.on_time"], "writers.off": ["writers.off_time"],
    ]

    /// The word that `word` was replaced by, where it is one of `known`.
    static func replacement(of word: String, among known: [String]) -> String? {
        renamed[word]?.first(where: known.contains)
    }

    /// A hint to end a refusal with: the one word that was probably meant, or else all that are known.
    public static func hint(for word: String, among known: [String]) -> String {
        if let new = replacement(of: word, among: known) { return "(it is called '\(new)' now)" }
        if let nearest = nearest(to: word, among: known) { return "(did you mean '\(nearest)'?)" }
        return known.isEmpty ? "(none is known here)" : "(known here: \(known.joined(separator: ", ")))"
    }

    /// The one of `known` that `word` is the last part of, or else the closest; nil where nothing is near.
    static func nearest(to word: String, among known: [String]) -> String? {
        let suffixed = known.filter { $0.hasSuffix("." + word) }
        if suffixed.count == 1 { return suffixed[0] }
        let wanted = folded(word)
        // Longer words may differ in more places and still be meant; a word of one or two letters may differ in one.
        let reach = max(1, min(3, wanted.count / 3))
        let ranked = known.map { (distance(wanted, folded($0)), $0) }.filter { $0.0 <= reach }
        return ranked.min { $0 < $1 }?.1
    }

    /// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b` (optimal string alignment).
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        // A word this long is no slip of the finger, and the table would grow with its square.
        guard a.count <= 64, b.count <= 64 else { return abs(a.count - b.count) + 64 }
        var table = Array(repeating: Array(repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in 0...a.count { table[i][0] = i }
        for j in 0...b.count { table[0][j] = j }
        for i in 1...a.count {
            for j in 1...b.count {
                let substitution = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, substitution)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
                }
            }
        }
        return table[a.count][b.count]
    }

    /// `Hang-Timeout` and `hang_timeout` are the same word to somebody who mistyped it.
    private static func folded(_ word: String) -> [Character] { word.lowercased().map { $0 == "-" ? "_" : $0 } }
}
