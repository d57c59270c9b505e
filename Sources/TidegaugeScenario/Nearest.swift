// Hints for unknown words: the word that was probably meant.
import StillingWellBasis
import TidegaugeSpec

public enum Nearest {
    /// Returns the replacement of a former word, if it is one of `known`.
    static func replacement(of word: String, among known: [String]) -> String? {
        RenamedWords.all[word]?.first(where: known.contains)
    }

    /// Returns the end of an error message: a former word's replacement, the word that was probably meant, or all known
    /// words.
    public static func hint(for word: String, among known: [String]) -> String {
        if let new = replacement(of: word, among: known) { return "(it is called '\(new)' now)" }
        if let nearest = nearest(to: word, among: known) { return "(did you mean '\(nearest)'?)" }
        return known.isEmpty ? "(none is known here)" : "(known here: \(known.joined(separator: ", ")))"
    }

    /// Like `hint`, but with up to three words if several are similar: `grdb` is part of two names.
    public static func hints(for word: String, among known: [String]) -> String {
        let several = several(to: word, among: known)
        return several.isEmpty ? hint(for: word, among: known) : String(several.dropFirst())
    }

    /// Returns a hint with up to three similar words, nearest first. Empty if none is similar.
    public static func several(to word: String, among known: [String]) -> String {
        if let new = replacement(of: word, among: known) { return " (it is called '\(new)' now)" }
        let near = Spelling.near(to: word, among: known).prefix(3).map { "'\($0)'" }
        guard let last = near.last else { return "" }
        let others = near.dropLast().joined(separator: ", ")
        return " (did you mean \(others.isEmpty ? "" : others + " or ")\(last)?)"
    }

    /// Returns the only known word that ends in `.word`, else the closest one, or nil if none is similar.
    static func nearest(to word: String, among known: [String]) -> String? {
        let suffixed = known.filter { $0.hasSuffix("." + word) }
        if suffixed.count == 1 { return suffixed[0] }
        return Spelling.nearest(to: word, among: known)
    }
}
