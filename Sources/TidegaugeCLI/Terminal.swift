// The two outputs of the command line: data on standard output, everything else on standard error; and the live line, which
// stands at the end of a terminal and is taken away before anything else is written, whoever writes it.
import Foundation
import Synchronization

/// The line that is written over and over. Any thread.
enum LiveLine {
    /// Whether there is one; held while it is drawn and taken away.
    private static let isShown = Mutex(false)

    /// Whether standard error is a terminal that can take a line back.
    static let isPossible = isatty(2) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    static func show(_ line: String) {
        isShown.withLock {
            // A line that wrapped could not be taken back.
            FileHandle.standardError.write(Data("\r\u{1B}[2K\(line.prefix(columns - 1))".utf8))
            $0 = true
        }
    }

    static func clear() {
        isShown.withLock {
            if $0 { FileHandle.standardError.write(Data("\r\u{1B}[2K".utf8)) }
            $0 = false
        }
    }

    private static var columns: Int { terminalColumns(2) ?? 80 }
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

    private static let hasColour = isatty(1) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

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

    private static func painted(_ text: String, _ colour: Int) -> String { "\u{1B}[\(colour)m\(text)\u{1B}[0m" }
}

/// Everything that is not data.
func printError(_ text: String) {
    LiveLine.clear()
    FileHandle.standardError.write(Data((text + "\n").utf8))
}

/// Data. Stands in for Swift's own in this module, so that nothing is written behind a live line.
func print(_ text: String, terminator: String = "\n") {
    LiveLine.clear()
    Swift.print(text, terminator: terminator)
}
