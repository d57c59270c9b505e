// What a refusal of a word ends with: the word that was probably meant.
import StillingWellBasis

public enum Nearest {
    /// Words that had to go, because one YAML or another takes them for a truth or for nothing, and what is said instead.
    private static let renamed = [
        "null": ["noop"], "livestore": ["stillingwell"], "on": ["runs_on", "on_time"], "off": ["off_time"],
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

    /// The same, with up to three words where several may have been meant: `grdb` is a part of two names.
    public static func hints(for word: String, among known: [String]) -> String {
        let several = replacement(of: word, among: known) == nil ? several(to: word, among: known) : ""
        return several.isEmpty ? hint(for: word, among: known) : String(several.dropFirst())
    }

    /// A hint with up to three words that may have been meant, nearest first; nothing where none is near.
    public static func several(to word: String, among known: [String]) -> String {
        let near = Spelling.near(to: word, among: known).prefix(3).map { "'\($0)'" }
        guard let last = near.last else { return "" }
        let others = near.dropLast().joined(separator: ", ")
        return " (did you mean \(others.isEmpty ? "" : others + " or ")\(last)?)"
    }

    /// The one of `known` that `word` is the last part of, or else the closest; nil where nothing is near.
    static func nearest(to word: String, among known: [String]) -> String? {
        let suffixed = known.filter { $0.hasSuffix("." + word) }
        if suffixed.count == 1 { return suffixed[0] }
        return Spelling.nearest(to: word, among: known)
    }
}
