// A line that an engine has written: a reply or a delivery, as fields. Names and meanings: Docs/engines.md.
import StillingWellBasis
import TidegaugeDriver

/// Fields of a reply or a delivery. Fields that the line lacks are nil, empty, 0 or false.
struct EngineMessage: Sendable {
    /// An error in a reply.
    struct Refusal: Sendable {
        var code = ""
        var text = ""
        /// Whether nothing happened. Otherwise the operation may have happened.
        var isDefinite = false
        /// Key of a missing row.
        var key: Int64?
    }

    // MARK: Replies
    var request: Int?
    var refusal: Refusal?
    var begunNs: Int64?
    var lockedNs: Int64?
    var doneNs: Int64?
    var counters: [String: Int]?
    /// The whole line of a reply with `facts`.
    var introduction: [UInt8]?

    // MARK: Deliveries
    var isDelivery = false
    var subscription: Int?
    var atNs: Int64?
    var isInitial = false
    var count: Int?
    var moveCount = 0
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []
    /// Whether it has any of the lists of a change set, even an empty one.
    var hasChangeSet = false
    var keys: [Int]?

    // MARK: Both
    var version: Int64?
    /// Rows with the engine's numbers.
    var rows: [Item]?
    /// Whether another line with the rest of the lists follows.
    var hasMore = false

    /// Reads a line. Unknown fields are skipped.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(JSONScanner.Problem) {
        var scanner = JSONScanner(UnsafeRawBufferPointer(line))
        var message = Self()
        var hasFacts = false
        try scanner.map { scanner, name throws(JSONScanner.Problem) in
            switch name {
            case "re": message.request = Int(try scanner.number())
            case "event": message.isDelivery = try scanner.text() == "delivery"
            case "sub": message.subscription = Int(try scanner.number())
            case "at": message.atNs = try scanner.number()
            case "version": message.version = try scanner.number()
            case "initial": message.isInitial = try scanner.flag()
            case "count": message.count = Int(try scanner.number())
            case "moves": message.moveCount = Int(try scanner.number())
            case "deletions":
                message.hasChangeSet = true
                try scanner.numbers(into: &message.deletions)
            case "insertions":
                message.hasChangeSet = true
                try scanner.numbers(into: &message.insertions)
            case "modifications":
                message.hasChangeSet = true
                try scanner.numbers(into: &message.modifications)
            case "keys":
                var keys: [Int] = []
                try scanner.numbers(into: &keys)
                message.keys = keys
            case "rows": message.rows = try Self.rows(&scanner)
            case "begun": message.begunNs = try scanner.number()
            case "locked": message.lockedNs = try scanner.number()
            case "done": message.doneNs = try scanner.number()
            case "counters": message.counters = try Self.counters(&scanner)
            case "more": message.hasMore = try scanner.flag()
            case "error": message.refusal = try Self.refusal(&scanner)
            case "facts":
                hasFacts = true
                try scanner.skip()
            default: try scanner.skip()
            }
        }
        try scanner.end()
        if hasFacts { message.introduction = Array(line) }
        self = message
    }

    private init() {}

    private static func rows(_ scanner: inout JSONScanner) throws(JSONScanner.Problem) -> [Item] {
        var rows: [Item] = []
        var columns: [Int] = []
        try scanner.list { scanner throws(JSONScanner.Problem) in
            columns.removeAll(keepingCapacity: true)
            try scanner.numbers(into: &columns)
            guard columns.count == 4 else {
                throw JSONScanner.Problem(expected: "a row of key, group, score and stamp", place: scanner.place)
            }
            rows.append(
                Item(
                    key: Int64(columns[0]), group: Int64(columns[1]), score: Int64(columns[2]), stamp: Int64(columns[3])
                ))
        }
        return rows
    }

    private static func counters(_ scanner: inout JSONScanner) throws(JSONScanner.Problem) -> [String: Int] {
        var counters: [String: Int] = [:]
        try scanner.map { scanner, name throws(JSONScanner.Problem) in counters[name] = Int(try scanner.number()) }
        return counters
    }

    private static func refusal(_ scanner: inout JSONScanner) throws(JSONScanner.Problem) -> Refusal {
        var refusal = Refusal()
        try scanner.map { scanner, name throws(JSONScanner.Problem) in
            switch name {
            case "code": refusal.code = try scanner.text()
            case "text": refusal.text = try scanner.text()
            case "definite": refusal.isDefinite = try scanner.flag()
            case "key": refusal.key = try scanner.number()
            default: try scanner.skip()
            }
        }
        return refusal
    }

    /// Returns this message with the lists of the lines before it, whose other fields are ignored.
    func after(_ earlier: EngineMessage?) -> EngineMessage {
        guard let earlier else { return self }
        var whole = self
        whole.deletions = earlier.deletions + deletions
        whole.insertions = earlier.insertions + insertions
        whole.modifications = earlier.modifications + modifications
        whole.hasChangeSet = hasChangeSet || earlier.hasChangeSet
        if let keys = earlier.keys { whole.keys = keys + (self.keys ?? []) }
        if let rows = earlier.rows { whole.rows = rows + (self.rows ?? []) }
        return whole
    }
}

/// Receives the deliveries of a subscription on the thread that reads from the engine.
protocol EngineSubscriber: AnyObject, Sendable {
    /// - Parameter receivedNs: the time when the last line of the delivery was read.
    /// - Returns: what is wrong with the delivery, or nil.
    func receive(_ delivery: EngineMessage, receivedNs: Int64) -> ProcessFailure?
    /// Any thread.
    func fail(_ failure: ProcessFailure)
}
