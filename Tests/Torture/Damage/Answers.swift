// What a child has said, line by line: a question, and its answer as a sum, or as an error.
import Foundation

struct Answers: Sendable {
    private(set) var lines: [String: String] = [:]
    /// Whether the child came to its end.
    private(set) var isOver = false

    init() {}

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2 { lines[String(parts[0])] = String(parts[1]) }
            if line == "end" { isOver = true }
        }
    }

    /// The question whose answer a getter is, which cannot throw.
    static let live = "live"
    static let liveBegun = "live begun"

    /// Whether the child was reading properties of live objects at its end.
    var isStopped: Bool { lines[Self.liveBegun] != nil && lines[Self.live] == nil }

    static func isError(_ answer: String) -> Bool { answer.hasPrefix("!") }

    /// Whether an error was told, or what looks at the whole file found something.
    var isNoticed: Bool {
        lines.contains { Self.isError($0.value) || $0.key.hasPrefix("verify") && $0.value.hasPrefix("damaged") }
    }

    var hasErrors: Bool { lines.values.contains(where: Self.isError) }

    /// Questions that were answered otherwise than by a whole store.
    func wrong(beside whole: Answers) -> [String] {
        lines.filter { question, answer in
            !question.hasPrefix("verify") && !Self.isError(answer) && whole.lines[question] != answer
        }.map(\.key).sorted()
    }
}
