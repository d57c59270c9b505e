// The messages between a trial, the agent of a host and its worker: frames with a kind and a length prefix. Pure.
import Foundation

/// One message. Its bytes: length of the payload (4 bytes, little-endian), kind (1 byte), payload.
struct HostFrame: Sendable, Equatable {
    /// To the agent: ping, order, start, fault, stop, settle. From the agent: hello, pong, ready, progress, fault,
    /// records, loaded, observed, done.
    enum Kind: UInt8, Sendable, CaseIterable {
        case hello = 1, ping, pong, order, ready, start, progress, fault, stop, records, done, loaded, settle, observed
    }

    /// Maximum payload in bytes that a reader accepts.
    static let mostBytes = 1 << 22
    static let headerBytes = 5
    /// Time in ns after which either side gives up on a silent peer while the load runs, in addition to `hang_timeout`
    /// and, for an agent, the length of the fault. It allows for a machine with no free core.
    static let silenceMarginNs: Int64 = 5_000_000_000

    var kind: Kind
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = UInt32(payload.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + [kind.rawValue] + payload
    }

    /// A message that is no frame, or whose payload does not match its kind.
    enum Damage: Error, CustomStringConvertible, Equatable {
        case tooLong(bytes: Int, first: [UInt8])
        case unknownKind(UInt8, first: [UInt8])
        case cut(bytes: Int)
        case unreadable(Kind, reason: String)

        var description: String {
            switch self {
            case .tooLong(let bytes, let first):
                "a frame of \(bytes) bytes, of which \(HostFrame.mostBytes) are the most (\(Self.shown(first))); "
                    + Self.remedy
            case .unknownKind(let kind, let first): "a frame of kind \(kind) (\(Self.shown(first))); \(Self.remedy)"
            case .cut(let bytes): "a frame was cut: \(bytes) bytes of it, and then the end; look into the host's log"
            case .unreadable(let kind, let reason): "a frame '\(kind)' that cannot be read: \(reason)"
            }
        }

        private static let remedy =
            "nothing but the agent may write to its standard output (a login's greeting does: 'ssh -T', a silent profile)"

        /// Shows the first bytes as text, in case a login or a program printed them.
        private static func shown(_ first: [UInt8]) -> String {
            let text = String(decoding: first.prefix(48), as: UTF8.self)
            return "it begins '\(text.map { $0.isASCII && !$0.isNewline && $0 >= " " ? String($0) : "." }.joined())'"
        }
    }
}

// Payloads.
extension HostFrame {
    init(_ kind: Kind, _ value: some Encodable) throws {
        self.init(kind: kind, payload: Array(try JSONEncoder().encode(value)))
    }

    init(_ kind: Kind, integers: [Int64]) {
        self.init(
            kind: kind,
            payload: integers.flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } })
    }

    func decoded<Value: Decodable>(_ type: Value.Type) throws(Damage) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(payload))
        } catch {
            throw .unreadable(kind, reason: "\(error)")
        }
    }

    func integers(_ count: Int) throws(Damage) -> [Int64] {
        guard payload.count == 8 * count else {
            throw .unreadable(kind, reason: "\(payload.count) bytes, not \(8 * count)")
        }
        return (0..<count).map { place in
            (0..<8).reduce(Int64(0)) { $0 | Int64(payload[8 * place + $1]) << (8 * $1) }
        }
    }
}

/// Splits input that arrives in arbitrary pieces into frames.
struct HostFrameReader: Sendable {
    private var pending: [UInt8] = []
    /// Offset of the next frame.
    private var start = 0

    mutating func add(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            pending.removeFirst(start)
            start = 0
        }
        pending += bytes
    }

    /// - Returns: nil until a whole frame is there.
    mutating func next() throws(HostFrame.Damage) -> HostFrame? {
        guard pending.count - start >= HostFrame.headerBytes else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(pending[start + $1]) << (8 * $1) }
        let first = Array(pending[start...].prefix(64))
        guard length <= HostFrame.mostBytes else { throw .tooLong(bytes: length, first: first) }
        guard let kind = HostFrame.Kind(rawValue: pending[start + 4]) else {
            throw .unknownKind(pending[start + 4], first: first)
        }
        let begin = start + HostFrame.headerBytes
        guard pending.count - begin >= length else { return nil }
        start = begin + length
        return HostFrame(kind: kind, payload: Array(pending[begin..<start]))
    }

    /// Checks for an incomplete frame. Call it at the end of the input.
    func end() throws(HostFrame.Damage) { if pending.count > start { throw .cut(bytes: pending.count - start) } }
}
