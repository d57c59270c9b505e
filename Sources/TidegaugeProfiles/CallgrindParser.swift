// Reads callgrind's format line by line. A value: one thread, one file.

struct CallgrindParser {
    private let path: String
    private var lines: ByteLines
    // Numbers of names hold for the whole file, whatever part defines them.
    private var functions = NameTable()
    private var files = NameTable()
    private var objects = NameTable()
    private var symbols = NameTable()
    private var contexts: [[Int]] = []

    private var done: [CallgrindPart] = []
    private var part = CallgrindPart()
    private var sum = 0
    /// Calls of the part.
    private var callCount = 0
    /// Most instructions, calls or system calls of a part: a month of a processor. A Double holds them exactly, and a thousand
    /// parts add up to 63 bits.
    private static let mostOfPart = 1 << 53
    /// The sum that `totals:` states, behind the costs. `summary:`, before them, is counted elsewhere in valgrind and
    /// may be some instructions off, as with `--dump-instr=yes`.
    private var stated: Int?
    /// Numbers before the costs of a line, how many costs may follow, and which of them are instructions.
    private var positionCount = 1
    private var eventCount = 0
    private var instructionsColumn: Int?
    /// Where `--collect-systime` counts system calls.
    private var systemCallsColumn: Int?

    /// Whether costs or their total were read, so that a header begins another part.
    private var isBody = false
    /// Contexts: whose costs the lines are, and who was named to be called.
    private var function: Int?
    private var callee: Int?
    /// A call whose cost is the next line.
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
        // `creator:`, `cmd:`, `summary:` and what later versions add say nothing that is asked for.
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
        // What was inlined from another file (fi, fe) is still of the function.
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
        // The line behind a jump has a position and no cost.
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

    /// Of the costs that the line ends with. Zeros at the end may be left out.
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

    /// `16`, `0x4a0`, or relative to the position before: `+3`, `-2`, `*`.
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

    /// `(id) name`, later `(id)` alone, or a name without number.
    private mutating func takeName() -> (id: Int?, name: String?) {
        let id = lines.takeID()
        lines.skipBlanks()
        return (id, lines.first == nil ? nil : lines.rest)
    }

    /// A function with its callers: `f'caller'itsCaller`, or `f'2` where it calls itself.
    private mutating func context() throws(CallgrindError) -> Int {
        let (id, name) = takeName()
        guard let place = functions.place(id: id, name: name) else { throw unknownName() }
        if place == contexts.count {
            // Names of Swift and C have no apostrophe, and what valgrind makes of those of C++ has none either.
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
