// The two outputs of the command line: data on standard output, everything else on standard error; and the live line, which
// stands at the end of a terminal and is taken away before anything else is written, whoever writes it.
import Foundation
import Synchronization
import TidegaugeMeasure
import TidegaugeReport

/// The line that is written over and over. Any thread.
enum LiveLine {
    /// Whether there is one; held while it is drawn and taken away.
    private static let isShown = Mutex(false)

    /// Whether standard error is a terminal that can take a line back.
    static let isPossible = hasControls(2)

    static func show(_ line: String) {
        isShown.withLock {
            // A line that wrapped could not be taken back.
            StandardStream.errors.write("\r\u{1B}[2K\(Escaped.visible(line).prefix(columns - 1))".utf8)
            $0 = true
        }
    }

    static func clear() {
        isShown.withLock {
            if $0 { StandardStream.errors.write("\r\u{1B}[2K".utf8) }
            $0 = false
        }
    }

    private static var columns: Int { terminalColumns(2) ?? 80 }
}

/// Whether a descriptor is a terminal that moves its cursor and has colours, and nobody has asked for neither.
private func hasControls(_ descriptor: Int32) -> Bool {
    let environment = ProcessInfo.processInfo.environment
    let kind = environment["TERM"] ?? ""
    return isatty(descriptor) == 1 && environment["NO_COLOR"] == nil && !kind.isEmpty && kind != "dumb"
}

/// How wide the terminal behind a descriptor is; nil where it does not say.
private func terminalColumns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
}

/// Standard output as a person sees it.
enum TerminalOutput {
    /// What tables have to fit into; nil where nobody looks, and all of them is written.
    static var columns: Int? { isatty(1) == 1 ? terminalColumns(1) : nil }

    private static let hasColour = hasControls(1)

    /// Beginnings of lines that say how something went, and marks within one.
    private static let signs: [(sign: String, colour: Int)] = [
        ("limit broken", 31), ("regressed", 31), ("trials fail", 31), ("limit unknown", 33), ("inconclusive", 33),
        ("no regression", 32), ("! ", 33),
    ]
    private static let marks: [(mark: String, colour: Int)] = [("✔", 32), ("✘", 31)]

    /// The same text, with the words that say how something went in colour where standard output is a terminal and NO_COLOR is
    /// not set.
    static func coloured(_ text: String) -> String {
        guard hasColour else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let words = line.drop { $0 == " " }
            guard let sign = signs.first(where: { words.hasPrefix($0.sign) }) else {
                return marks.reduce(String(line)) { $0.replacing($1.mark, with: painted($1.mark, $1.colour)) }
            }
            return line.prefix(line.count - words.count) + painted(sign.sign, sign.colour)
                + words.dropFirst(sign.sign.count)
        }.joined(separator: "\n")
    }

    /// A line in as many lines as the terminal needs, broken between words. Those that follow stand under the last column of the
    /// first, which begins behind two blanks or more.
    /// - Parameter columns: nil: whole.
    static func wrapped(_ line: String, columns: Int? = Self.columns) -> String {
        guard let columns, line.count > columns else { return line }
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        var indent = line.prefix { $0 == " " }.count + 2
        var place = 0
        for (index, word) in words.enumerated() where index < words.count - 1 {
            place += word.count + 1
            if word.isEmpty, !words[index + 1].isEmpty, place < columns / 2 { indent = place }
        }
        var lines = [""]
        for (index, word) in words.enumerated() {
            if index > 0, lines[lines.count - 1].count + 1 + word.count > columns,
                !lines[lines.count - 1].allSatisfy({ $0 == " " })
            {
                lines.append(String(repeating: " ", count: indent) + word)
            } else {
                lines[lines.count - 1] += (index > 0 ? " " : "") + word
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func painted(_ text: String, _ colour: Int) -> String { "\u{1B}[\(colour)m\(text)\u{1B}[0m" }
}

/// Everything that is not data. Names of files may hold what moves a cursor.
func printError(_ text: String) {
    LiveLine.clear()
    StandardStream.errors.write((Escaped.visible(text, keepingLines: true) + "\n").utf8)
}

/// Data. Stands in for Swift's own in this module, so that nothing is written behind a live line.
func print(_ text: String, terminator: String = "\n") {
    LiveLine.clear()
    if !StandardStream.output.write((text + terminator).utf8) { OutputFailure.code.store(errno, ordering: .relaxed) }
}

/// Why data could not be written; 0: all of it was.
enum OutputFailure {
    static let code = Atomic<Int32>(0)
}
