// Parser of callgrind's format. Used for one file by one thread.

struct CallgrindParser {
    private let path: String
    private var lines: ByteLines
    // IDs of names are valid for the whole file, in whichever part they are defined.
    private var functions = NameTable()
    private var files = NameTable()
    private var objects = NameTable()
    private var symbols = NameTable()
    private var contexts: [[Int]] = []

    private var done: [CallgrindPart] = []
    private var part = CallgrindPart()
    private var sum = 0
    /// Sum of the calls in the part.
    private var callCount = 0
    /// Highest number of instructions, calls or system calls of a part, about a month of CPU time. A Double
    /// represents them exactly, and the sum of 1,000 parts fits into 63 bits.
    private static let mostOfPart = 1 << 53
    /// Total stated by `totals:` after the costs. `summary:` before them comes from another counter of valgrind and
    /// can differ by a few instructions, as with `--dump-instr=yes`.
    private var stated: Int?
    /// Numbers before the costs of a line, maximum number of costs, and index of the instruction count.
    private var positionCount = 1
    private var eventCount = 0
    private var instructionsColumn: Int?
    /// Index of the system calls counted by `--collect-systime`, or nil.
    private var systemCallsColumn: Int?

    /// Whether a function or the totals were read, so that a header other than `totals:` starts another part.
    private var isBody = false
    /// Contexts of the current cost lines and of the next call.
    private var function: Int?
    private var callee: Int?
    /// A call whose cost is on the next line.
    private var call: (callee: Int, count: Int)?

    init(_ bytes: [UInt8], path: String) {
        self.path = path
        lines = ByteLines(bytes)
    }

    mutating func parts() throws(CallgrindError) -> [CallgrindPart] {
        while lines.advance() {
            let isCost = lines.first.map { Self.beginsCost($0) } ?? false
            if call != nil, !isCost { throw unexpected("the cost of the call on the line before") }
            if isCost {
                try readCost()
            } else if let (key, mark) = lines.takeKey() {
                if mark == UInt8(ascii: ":") { try readHeader(key) } else { try readBody(key) }
            } else {
                lines.skipBlanks()
                if let byte = lines.first, byte != UInt8(ascii: "#") {
                    throw unexpected("a line of callgrind's format")
                }
            }
        }
        if call != nil { throw broken("expected the cost of the last call, found the end of the file") }
        try finishPart()
        return done
    }

    private static func beginsCost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"): true
        default: false
        }
    }

    // MARK: Header

    private mutating func readHeader(_ key: String) throws(CallgrindError) {
        if isBody, key != "totals" { try finishPart() }
        lines.skipBlanks()
        switch key {
        case "version": guard lines.takeNumber() == 1 else { throw unexpected("version 1 of the format") }
        case "pid": part.pid = try number("the number of a process")
        case "thread": part.thread = try number("the number of a thread")
        case "part": part.number = try number("the number of a part")
        case "desc":
            let trigger = "Trigger: "
            if lines.rest.hasPrefix(trigger) { part.trigger = String(lines.rest.dropFirst(trigger.count)) }
        case "positions":
            positionCount = lines.rest.split(whereSeparator: \.isWhitespace).count
        case "events":
            let events = lines.rest.split(whereSeparator: \.isWhitespace)
            eventCount = events.count
            instructionsColumn = events.firstIndex(of: "Ir")
            systemCallsColumn = events.firstIndex(of: "sysCount")
            if instructionsColumn == nil { throw unexpected("Ir, instructions, among the events") }
        case "totals":
            let totals = try costs()
            stated = totals.instructions
            part.systemCalls = systemCallsColumn == nil ? nil : try total(0, totals.systemCalls, "system calls")
            isBody = true
        // Other keys, such as `creator:` and `summary:`, are not needed.
        default: break
        }
    }

    private mutating func finishPart() throws(CallgrindError) {
        if lines.number == 0 {
            let remedy = "with --separate-threads=yes the profiles are the files with -01 and on behind this name"
            throw CallgrindError(path: path, message: "the file is empty; \(remedy)")
        }
        guard let stated else {
            throw broken("expected totals: at the end of a part, found none: the file is not whole")
        }
        guard stated == sum else {
            throw broken("expected costs that add up to the \(stated) instructions stated, found \(sum)")
        }
        (part.symbols, part.contexts, part.total) = (symbols.names, contexts, sum)
        part.exclusive += Array(repeating: 0, count: contexts.count - part.exclusive.count)
        done.append(part)
        part = CallgrindPart(pid: part.pid)
        (self.stated, sum, callCount, isBody, function, callee) = (nil, 0, 0, false, nil, nil)
    }

    // MARK: Body

    private mutating func readBody(_ key: String) throws(CallgrindError) {
        switch key {
        case "fn":
            function = try context()
            isBody = true
        case "cfn": callee = try context()
        case "jfn": _ = try context()
        // Code inlined from another file (fi, fe) belongs to the function.
        case "fl", "fi", "fe", "cfi", "cfl", "jfi":
            let (id, name) = takeName()
            guard files.place(id: id, name: name) != nil else { throw unknownName() }
        case "ob", "cob":
            let (id, name) = takeName()
            guard objects.place(id: id, name: name) != nil else { throw unknownName() }
        case "calls":
            guard let callee else { throw unexpected("cfn= before calls=") }
            let count = try number("a number of calls")
            callCount = try total(callCount, count, "calls")
            call = (callee, count)
            self.callee = nil
            try skipPositions()
        // The line after a jump has a position but no cost.
        case "jump", "jcnd": break
        default: throw unexpected("a line of callgrind's format")
        }
    }

    private mutating func readCost() throws(CallgrindError) {
        guard let function else { throw unexpected("fn= before the first cost") }
        try skipPositions()
        let cost = try instructions()
        if let call {
            part.calls.append(
                CallgrindPart.Call(caller: function, callee: call.callee, count: call.count, instructions: cost))
            self.call = nil
            return
        }
        sum = try total(sum, cost, "costs")
        part.exclusive[function] += cost
    }

    /// Adds to a sum of the part.
    private func total(_ sum: Int, _ more: Int, _ what: String) throws(CallgrindError) -> Int {
        let (total, isTooLarge) = sum.addingReportingOverflow(more)
        guard !isTooLarge, total <= Self.mostOfPart else { throw unexpected("\(what) that add up to 2^53 at most") }
        return total
    }

    private mutating func instructions() throws(CallgrindError) -> Int { try costs().instructions }

    /// Reads the costs at the end of the line. Trailing zeros may be omitted.
    private mutating func costs() throws(CallgrindError) -> (instructions: Int, systemCalls: Int) {
        guard let instructionsColumn else { throw unexpected("events: before the first cost") }
        var (column, instructions, systemCalls) = (0, 0, 0)
        lines.skipBlanks()
        while lines.first != nil {
            guard column < eventCount else { throw unexpected("\(eventCount) costs at most") }
            guard let cost = call == nil ? lines.takeNumber() : lines.takeBits().map({ Int(bitPattern: $0) }) else {
                throw unexpected("a cost")
            }
            if column == instructionsColumn { instructions = cost }
            if column == systemCallsColumn { systemCalls = cost }
            column += 1
            lines.skipBlanks()
        }
        return (instructions, systemCalls)
    }

    /// Skips positions: `16`, `0x4a0`, or relative to the previous position: `+3`, `-2`, `*`.
    private mutating func skipPositions() throws(CallgrindError) {
        for _ in 0..<positionCount {
            lines.skipBlanks()
            if lines.take("*") { continue }
            if !lines.take("+") { lines.take("-") }
            _ = try number("a position")
        }
        if lines.first != nil, !lines.skipBlanks() { throw unexpected("a blank behind a position") }
    }

    // MARK: Names

    /// Reads `(id) name`, a later reference `(id)`, or a name without ID.
    private mutating func takeName() -> (id: Int?, name: String?) {
        let id = lines.takeID()
        lines.skipBlanks()
        return (id, lines.first == nil ? nil : lines.rest)
    }

    /// Reads a function with its callers: `f'caller'itsCaller`, or `f'2` for a recursive call.
    private mutating func context() throws(CallgrindError) -> Int {
        let (id, name) = takeName()
        guard let place = functions.place(id: id, name: name) else { throw unknownName() }
        if place == contexts.count {
            // Swift and C names contain no apostrophe, and neither do C++ names as valgrind writes them.
            let chain = functions.names[place].utf8.split(separator: UInt8(ascii: "'")).filter { name in
                !name.allSatisfy { (0x30...0x39).contains($0) }
            }
            if chain.isEmpty { throw unexpected("the name of a function") }
            contexts.append(chain.map { symbols.place(of: String(decoding: $0, as: UTF8.self)) })
        }
        part.exclusive += Array(repeating: 0, count: contexts.count - part.exclusive.count)
        return place
    }

    // MARK: Errors

    private mutating func number(_ what: String) throws(CallgrindError) -> Int {
        guard let number = lines.takeNumber() else { throw unexpected(what) }
        return number
    }

    private func unknownName() -> CallgrindError { unexpected("a number that has one name") }

    private func unexpected(_ expected: String) -> CallgrindError {
        broken("expected \(expected), found '\(lines.text)'")
    }

    private func broken(_ message: String) -> CallgrindError {
        CallgrindError(path: path, line: lines.number, message: message + "; record the profile again")
    }
}
