// Comments of the sources on lines of their own, as text, and the rules of their prose.
import Foundation

/// Comments of the files of a folder: in Swift, C, JavaScript, shell and Python.
struct Prose {
    /// One line of a comment.
    struct Line {
        /// Path from the root of the repository, and number of the line, counted from 1.
        let place: String
        /// Text without the comment marks.
        let text: Substring
        /// Whether the line begins a comment block, or an item such as `- Returns:`.
        let isStart: Bool
    }

    let lines: [Line]

    /// Paths of the Swift files below a folder, from the root of the repository.
    static func swiftFiles(_ folder: String) -> [String] { files(folder).filter { $0.hasSuffix(".swift") } }

    private static func files(_ folder: String) -> [String] {
        let paths = FileManager.default.enumerator(atPath: "\(Module.root)/\(folder)")
        return (paths?.compactMap { $0 as? String } ?? []).filter { !$0.contains(".build/") }.sorted()
            .map { "\(folder)/\($0)" }
    }

    /// Reads the comments of a folder of the repository.
    init(of folder: String) throws {
        let kinds = [".swift": "//", ".c": "//", ".h": "//", ".js": "//", ".sh": "#", ".py": "#"]
        lines = try Self.files(folder).flatMap { path in
            guard let mark = kinds.first(where: { path.hasSuffix($0.key) })?.value else { return [Line]() }
            return Self.lines(try String(contentsOfFile: "\(Module.root)/\(path)", encoding: .utf8), path, mark)
        }
    }

    /// Reads the comments of a text that begin with `mark`.
    init(_ text: String, mark: String = "//") { lines = Self.lines(text, "text", mark) }

    private static func lines(_ text: String, _ path: String, _ mark: String) -> [Line] {
        var isInBlock = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let comment = line.drop { $0 == " " }
            guard comment.hasPrefix(mark), !comment.hasPrefix("#!") else {
                isInBlock = false
                return nil
            }
            let text = comment.drop { $0 == "/" || $0 == "#" || $0 == " " }
            let item = text.hasPrefix("- ") ? text.prefixMatch(of: Self.itemStart) : nil
            defer { isInBlock = true }
            return Line(
                place: "\(path):\(index + 1)", text: item.map { text[$0.range.upperBound...] } ?? text,
                isStart: !isInBlock || item != nil)
        }
    }

    /// Lines that begin a comment or an item with one of the words of `wrongStart`.
    var wrongStarts: [Line] { lines.filter { $0.isStart && $0.text.prefixMatch(of: Self.wrongStart) != nil } }

    /// Lines with a word that the project has replaced, and the word. Words between backquotes are names.
    var bannedWords: [(line: Line, word: String)] {
        lines.compactMap { line in
            let spans = line.text.split(separator: "`", omittingEmptySubsequences: false)
            let plain = spans.indices.filter { $0.isMultiple(of: 2) }.map { spans[$0] }.joined(separator: " ")
            let words = plain.lowercased().split { !$0.isLetter && $0 != "_" }.map(String.init)
            let pairs = zip(words, words.dropFirst()).map { "\($0) \($1)" }
            return (words + pairs).first { Self.replaced[$0] != nil }.map { (line, $0) }
        }
    }

    /// Replaced words, and the word to write.
    static let replaced: [String: String] = {
        let stems = [
            "bystander": "idle query", "choreography": "interleaving test", "guest": "unjudged driver",
            "silence": "suppressed notification", "silent commit": "suppressing commit",
            "silent write": "suppressing write", "unmade commit": "missed commit",
            "noisy neighbour": "co-tenant", "whoever": "the noun", "unmade_commits": "missed_commits",
        ]
        var words = stems
        for (word, better) in stems where word != "choreography" { words["\(word)s"] = better }
        words["choreographies"] = "interleaving tests"
        return words
    }()

    nonisolated(unsafe) private static let itemStart = #/- (?:Returns|Throws|Parameter [^:]*|Note|Precondition):\s*/#
    nonisolated(unsafe) private static let wrongStart =
        #/(?:What|Who|Whoever|Whom|Whose|Those|That of|That which|The ones?|One that|One who|Ones|All that|Whatever|Where|Of|As of)\b/#
}
