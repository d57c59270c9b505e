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

    private static var columns: Int {
        var size = winsize()
        return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
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
