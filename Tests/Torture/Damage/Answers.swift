// Answers that a child printed, one line per question.
import Foundation

struct Answers: Sendable {
    private(set) var lines: [String: String] = [:]
    /// Whether the child printed its last line.
    private(set) var isOver = false

    init() {}

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2 { lines[String(parts[0])] = String(parts[1]) }
            if line == "end" { isOver = true }
        }
    }

    /// The question that reads properties of live objects. Getters cannot throw, so damage that one finds ends the
    /// process.
    static let live = "live"
    static let liveBegun = "live begun"

    /// Whether the child ended while it read properties of live objects.
    var isStopped: Bool { lines[Self.liveBegun] != nil && lines[Self.live] == nil }

    static func isError(_ answer: String) -> Bool { answer.hasPrefix("!") }

    /// Whether some answer was an error, or `Store.verify` found damage.
    var isNoticed: Bool {
        lines.contains { Self.isError($0.value) || $0.key.hasPrefix("verify") && $0.value.hasPrefix("damaged") }
    }

    var hasErrors: Bool { lines.values.contains(where: Self.isError) }

    /// Questions whose answers differ from those of the undamaged store. Errors and `verify` are not counted.
    func wrong(beside whole: Answers) -> [String] {
        lines.filter { question, answer in
            !question.hasPrefix("verify") && !Self.isError(answer) && whole.lines[question] != answer
        }.map(\.key).sorted()
    }
}
