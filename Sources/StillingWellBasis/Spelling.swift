// Suggestions for misspelled words.

public enum Spelling {
    /// Returns the closest of `known`, or nil if none is close. Ignores case and the difference between `-` and `_`.
    public static func nearest(to word: String, among known: [String]) -> String? {
        slips(of: word, among: known).first
    }

    /// Returns likely candidates of `known`: misspellings, the closest first, then words that contain this one or are
    /// contained in it, from three letters on. If there are none and the word has at least four letters, words of which
    /// one part is near a part of this one, such as `commit-latency` for `comit` and `many-writers` for `two-writer`.
    /// If there are none of these either, words of which letters were left out.
    public static func near(to word: String, among known: [String]) -> [String] {
        let slips = slips(of: word, among: known)
        let wanted = String(folded(word))
        let parts = known.filter { known in
            let other = String(folded(known))
            return !slips.contains(known) && min(wanted.count, other.count) >= 3
                && (other.contains(wanted) || wanted.contains(other))
        }
        guard slips.isEmpty && parts.isEmpty && wanted.count >= 4 else { return slips + parts }
        let parted = known.filter { hasPart(near: wanted, $0) }.map { (distance(Array(wanted), folded($0)), $0) }
            .sorted { $0 < $1 }.map(\.1)
        return parted.isEmpty ? known.filter { isShortened(Array(wanted), folded($0)) } : parted
    }

    /// Returns whether letters of `known` were left out in `wanted`, at most half of them and not the first:
    /// `stilwell`.
    private static func isShortened(_ wanted: [Character], _ known: [Character]) -> Bool {
        guard wanted.first == known.first, 2 * wanted.count >= known.count else { return false }
        var rest = wanted[...]
        for letter in known where letter == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }

    private static func hasPart(near wanted: String, _ known: String) -> Bool {
        let parts = wanted.split(separator: "_").filter { $0.count >= 4 }
        return folded(known).split(separator: "_").contains { part in
            parts.contains { distance(Array($0), Array(part)) <= 1 }
        }
    }

    private static func folded(_ word: String) -> [Character] { word.lowercased().map { $0 == "-" ? "_" : $0 } }

    private static func slips(of word: String, among known: [String]) -> [String] {
        let wanted = folded(word)
        // One difference per three letters of the word, but at least one and at most three.
        let reach = max(1, min(3, wanted.count / 3))
        return known.map { (distance(wanted, folded($0)), $0) }.filter { $0.0 <= reach }.sorted { $0 < $1 }.map(\.1)
    }

    /// Returns the number of insertions, deletions, substitutions and swaps of neighbours between two words (optimal
    /// string alignment). If either word has more than 64 characters, only the lengths are compared.
    package static func distance(_ a: [Character], _ b: [Character]) -> Int {
        guard a.count <= 64, b.count <= 64 else { return abs(a.count - b.count) + 64 }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
