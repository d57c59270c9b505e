// Errors of engines in other processes. A trial that one of them ends has the error's name in its row of the results.
import TidegaugeDriver
import TidegaugeMeasure

/// A failure of an engine, such as its end or a breach of the protocol.
struct ProcessFailure: NamedEngineError {
    enum Kind: String, Sendable {
        case cannotStart = "engine_not_started"
        case died = "engine_died"
        case silent = "engine_silent"
        case garbage = "engine_garbage"
        case lineTooLong = "engine_line_too_long"
        /// Times that are out of order.
        case time = "engine_time"
        /// A breach of the protocol, such as a message that is not allowed in the current state, or lacks a field.
        case order = "engine_order"
        /// A delivery before the reply to `subscribe`.
        case early = "engine_early_delivery"
        /// A delivery after the reply to `cancel`.
        case late = "engine_late_delivery"
        /// A reply to `hello` that is invalid, or contradicts what the engine does or has said before.
        case facts = "engine_facts"
        /// The process does not end after `close`.
        case stays = "engine_stays"
    }

    let kind: Kind
    let sentence: String
    /// Last lines that the engine wrote to standard error.
    var lastLines: [String] = []

    init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = kind == .time ? "\(sentence); use nanoseconds of CLOCK_MONOTONIC for all times" : sentence
    }

    var reportName: String { kind.rawValue }

    /// Describes the end of an engine. A shell that has started the engine ends with 128 plus the number of the signal
    /// that ended the engine.
    static func words(_ exit: Subprocess.Exit) -> String {
        guard case .status(let status) = exit, (129...192).contains(status) else { return "\(exit)" }
        return "\(exit), as of a shell whose program ended by signal \(status - 128)"
    }

    var description: String {
        if lastLines.isEmpty { return "\(sentence); it wrote nothing to standard error" }
        return "\(sentence); its last lines on standard error:\n" + lastLines.map { "  \($0)" }.joined(separator: "\n")
    }
}

/// An error that the engine has reported in a reply.
struct EngineRefusal: NamedEngineError {
    let operation: String
    let refusal: EngineMessage.Refusal
    let lastLines: [String]

    var reportName: String { refusal.isDefinite ? "engine_error" : "engine_indefinite_error" }

    var description: String {
        let outcome = refusal.isDefinite ? "nothing happened" : "it may have happened"
        let tail =
            lastLines.isEmpty
            ? "" : "; last lines on standard error:\n" + lastLines.map { "  \($0)" }.joined(separator: "\n")
        return "'\(operation)' failed: \(refusal.code): \(refusal.text) (\(outcome))\(tail)"
    }
}

/// The last 20 lines of a stream, each cut to 500 bytes.
struct LastLines: Sendable {
    private static let most = 20
    private static let longest = 500

    private var lines: [String] = []
    private var pending: [UInt8] = []

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                end()
            } else if pending.count < Self.longest {
                pending.append(byte)
            }
        }
    }

    private mutating func end() {
        lines.append(String(decoding: pending, as: UTF8.self))
        if lines.count > Self.most { lines.removeFirst() }
        pending.removeAll(keepingCapacity: true)
    }

    /// The lines, and the last one even if it has not ended.
    var all: [String] {
        let last = pending.isEmpty ? [] : [String(decoding: pending, as: UTF8.self)]
        return Array((lines + last).suffix(Self.most))
    }
}
