// Outputs of the command line: data on standard output, everything else on standard error. The live line at the end
// of a terminal is removed before anything else is written.
import Foundation
import Synchronization
import TidegaugeMeasure
import TidegaugeReport

/// The live line, which is overwritten in place. Any thread.
enum LiveLine {
    /// Whether the line is visible. The lock is held while it is drawn or removed.
    private static let isShown = Mutex(false)

    /// Whether standard error is a terminal that can erase a line, and NO_COLOR is not set.
    static let isPossible = hasControls(2)

    static func show(_ line: String) {
        isShown.withLock {
            // A wrapped line could not be erased.
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

/// Whether a descriptor is a terminal with cursor movement and colours, and NO_COLOR is not set.
private func hasControls(_ descriptor: Int32) -> Bool {
    let environment = ProcessInfo.processInfo.environment
    let kind = environment["TERM"] ?? ""
    return isatty(descriptor) == 1 && environment["NO_COLOR"] == nil && !kind.isEmpty && kind != "dumb"
}

/// Width of the terminal, or nil if it is unknown.
private func terminalColumns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
}

/// Standard output as shown on a terminal.
enum TerminalOutput {
    /// Width that tables must fit into; nil if the output is not a terminal or its width is unknown.
    static var columns: Int? { isatty(1) == 1 ? terminalColumns(1) : nil }

    private static let hasColour = hasControls(1)

    /// Coloured beginnings of lines, and marks within a line.
    private static let signs: [(sign: String, colour: Int)] = [
        ("limit broken", 31), ("regressed", 31), ("trials fail", 31), ("limit not judged", 33), ("inconclusive", 33),
        ("no regression", 32), ("! ", 33),
    ]
    private static let marks: [(mark: String, colour: Int)] = [("✔", 32), ("✘", 31)]

    /// Returns the text with results in colour, if standard output can show colours and NO_COLOR is not set.
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

    /// Wraps a line between words to the terminal's width. Continuation lines are indented to the last column in the
    /// left half that starts after two or more blanks. Without one, they are indented by two more than the line.
    /// - Parameter columns: nil: not wrapped.
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

/// Prints a message on standard error. It escapes control characters, which names of files may contain.
func printError(_ text: String) {
    LiveLine.clear()
    StandardStream.errors.write((Escaped.visible(text, keepingLines: true) + "\n").utf8)
}

/// Prints data. Replaces Swift's `print` in this module, so that the live line is removed first.
func print(_ text: String, terminator: String = "\n") {
    LiveLine.clear()
    if !StandardStream.output.write((text + terminator).utf8) { OutputFailure.code.store(errno, ordering: .relaxed) }
}

/// Error number of a failed write of data; 0: none.
enum OutputFailure {
    static let code = Atomic<Int32>(0)
}
