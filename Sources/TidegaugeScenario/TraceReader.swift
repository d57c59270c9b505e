// Parses a trace line by line. The format is in Docs/scenarios.md; `StillingWell.WorkloadRecorder` writes it. Pure.
//
//     0.104211 commit 2
//      insert Todo 3f2a9c1b77e01d52
//      update TodoList 9b1c0e44 todos
import TidegaugeSpec

/// Reads a trace. Errors are the end of a sentence that starts with the file's name.
struct TraceReader {
    /// A row of the application, before the number of initial rows is known.
    private struct Row {
        var table: Int
        /// Index among the initial or among the inserted rows.
        var index: Int
        var isInserted: Bool
        var isThere = true
    }

    private struct Operation {
        var kind: WorkloadSpec.Operation.Kind
        var row: Row
        var columns: [Substring] = []
    }

    private struct Watch {
        var table: Int
        var columns: [Substring]
        var order: WorkloadSpec.Order
        /// Largest observed share of its table's rows; nil if unknown.
        var share: Double?
        var fromNs: Int64
        var untilNs: Int64?
    }

    private var line = 0
    /// Number of the last line that is not empty.
    private var lastLine = 0
    private(set) var dueNs: [Int64] = []
    private var lastNs: Int64 = 0
    /// Whether the trace contains more than due times.
    private var isWorkload = false
    private var hasEnded = false
    private var tables: [Substring: Int] = [:]
    /// Initial and current number of rows of each table.
    private var atFirst: [Int] = []
    private var now: [Int] = []
    private var rows: [[Substring]: Row] = [:]
    private var inserted = 0
    private var commits: [[Operation]] = []
    /// The commit whose operations follow, and the number of missing ones.
    private var open: (line: Int, missing: Int, announced: Int)?
    private var watches: [Watch] = []
    private var watched: [Substring: Int] = [:]

    mutating func read(_ text: Substring) throws(ValueFault) {
        line += 1
        if text.isEmpty { return }
        lastLine = line
        if text.hasPrefix("#") { return }
        let words = text.split(separator: " ")
        if let commit = open, commit.missing > 0 {
            guard text.hasPrefix(" ") else { throw cut(commit) }
            open?.missing -= 1
            return try takeOperation(words)
        }
        guard !hasEnded else { throw fault("a line after 'end' (remove it, or move 'end' to the last line)") }
        guard !text.hasPrefix(" "), let first = words.first else {
            throw fault("an operation outside of a commit (write 'TIME commit 1' before it)")
        }
        let timeNs = try time(first)
        guard words.count > 1 else {
            guard !isWorkload else {
                throw fault("a time without an operation, although other lines have one (add it)")
            }
            return try takeCommit(timeNs)
        }
        guard dueNs.isEmpty || isWorkload else {
            throw fault(
                "'\(words[1])' after lines with a time only (state the operations of every commit, or of none)")
        }
        isWorkload = true
        try take(words[1], Array(words.dropFirst(2)), timeNs)
    }

    // MARK: Lines with a time

    private mutating func time(_ word: Substring) throws(ValueFault) -> Int64 {
        let text = String(word)
        let seconds: Double
        do throws(ValueFault) {
            seconds = try Quantity.number(text)
        } catch {
            throw fault("'\(Quantity.clipped(text))', which is no number of seconds")
        }
        guard seconds >= 0, seconds <= 86_400 else {
            throw fault("the time \(Quantity.clipped(text)), which is not within a day")
        }
        let timeNs = Int64((seconds * 1e9).rounded())
        guard timeNs >= lastNs else { throw fault("a time before the one above it (sort it)") }
        lastNs = timeNs
        return timeNs
    }

    private mutating func takeCommit(_ timeNs: Int64) throws(ValueFault) {
        dueNs.append(timeNs)
        guard dueNs.count <= Trace.maximumCommits else {
            throw ValueFault("has more than \(Trace.maximumCommits) times")
        }
    }

    private mutating func take(_ verb: Substring, _ words: [Substring], _ timeNs: Int64) throws(ValueFault) {
        switch (verb, words.count) {
        case ("holds", 2):
            guard commits.isEmpty else { throw fault("'holds' after the first commit (move it before)") }
            let table = table(words[0])
            atFirst[table] = try number(words[1], "rows")
            now[table] = atFirst[table]
        case ("commit", 1):
            let count = try number(words[0], "operations")
            guard count > 0 else { throw fault("a commit without operations (remove it)") }
            try takeCommit(timeNs)
            commits.append([])
            open = (line, count, count)
        case ("subscribe", 2...): try subscribe(words, timeNs)
        case ("found", 2):
            let query = try query(words[0])
            let count = try number(words[1], "rows")
            // The share is undefined for a table without rows.
            let rows = now[watches[query].table]
            if rows > 0 { watches[query].share = min(1, max(watches[query].share ?? 0, Double(count) / Double(rows))) }
        case ("drop", 1):
            let query = try query(words[0])
            watches[query].untilNs = timeNs
            watched[words[0]] = nil
        case ("end", 0): hasEnded = true
        default:
            throw fault(
                "'\(Quantity.clipped(([verb] + words).joined(separator: " ")))', which is nothing that a trace says (holds TABLE "
                    + "ROWS, commit OPERATIONS, subscribe QUERY TABLE, found QUERY ROWS, drop QUERY, end)")
        }
    }

    private mutating func subscribe(_ words: [Substring], _ timeNs: Int64) throws(ValueFault) {
        guard watched[words[0]] == nil else {
            throw fault("a second query \(words[0]) while the first is observed (give it another number)")
        }
        var watch = Watch(table: table(words[1]), columns: [], order: .none, fromNs: timeNs)
        for option in words.dropFirst(2) {
            let parts = option.split(separator: "=", maxSplits: 1)
            // An option may consist of '=' only.
            switch (parts.first, parts.count) {
            case ("filter"?, 2): watch.columns += parts[1].split(separator: ",")
            case ("sort"?, 2):
                let isDescending = parts[1].hasPrefix("-")
                watch.order = isDescending ? .descending : .ascending
                watch.columns.append(isDescending ? parts[1].dropFirst() : parts[1])
            // The number of shown rows is in `found`.
            case ("limit"?, 2): _ = try number(parts[1], "rows")
            default:
                throw fault(
                    "'\(Quantity.clipped(String(option)))', which a query has not (filter=COLUMN,…, sort=COLUMN, limit=ROWS)"
                )
            }
        }
        watched[words[0]] = watches.count
        watches.append(watch)
    }

    private func query(_ name: Substring) throws(ValueFault) -> Int {
        guard let query = watched[name] else {
            throw fault("query \(Quantity.clipped(String(name))), which is not observed there (subscribe it before)")
        }
        return query
    }

    private func number(_ word: Substring, _ what: String) throws(ValueFault) -> Int {
        guard let number = Int(word), number >= 0, number <= 100_000_000 else {
            throw fault("'\(Quantity.clipped(String(word)))' in place of a number of \(what)")
        }
        return number
    }

    private mutating func table(_ name: Substring) -> Int {
        if let known = tables[name] { return known }
        tables[name] = atFirst.count
        atFirst.append(0)
        now.append(0)
        return atFirst.count - 1
    }

    // MARK: Operations

    private mutating func takeOperation(_ words: [Substring]) throws(ValueFault) {
        guard words.count >= 3, ["insert", "update", "delete"].contains(words[0]), words.count <= 4,
            words.count == 3 || words[0] == "update"
        else {
            throw fault(
                "'\(Quantity.clipped(words.joined(separator: " ")))', which is no operation (insert TABLE ROW, update TABLE ROW "
                    + "COLUMN,…, delete TABLE ROW)")
        }
        let table = table(words[1])
        let name = [words[1], words[2]]
        if words[0] == "insert" {
            guard rows[name]?.isThere != true else {
                throw fault("row \(words[2]) of \(words[1]) inserted, which exists (delete it before)")
            }
            rows[name] = Row(table: table, index: inserted, isInserted: true)
            inserted += 1
            now[table] += 1
            return append(Operation(kind: .insert, row: rows[name]!))
        }
        let row = rows[name] ?? first(of: table)
        guard row.isThere else {
            throw fault("row \(words[2]) of \(words[1]), which has been deleted (insert it before)")
        }
        rows[name] = row
        if words[0] == "delete" {
            rows[name]!.isThere = false
            now[table] -= 1
            return append(Operation(kind: .delete, row: row))
        }
        let columns = words.count == 4 ? words[3].split(separator: ",") : []
        append(Operation(kind: .touch, row: row, columns: columns))
    }

    private mutating func append(_ operation: Operation) { commits[commits.count - 1].append(operation) }

    /// Number of initial rows that have been named, by table.
    private var named: [Int: Int] = [:]

    /// Adds a row that was not inserted and therefore existed at the start.
    private mutating func first(of table: Int) -> Row {
        let index = named[table, default: 0]
        named[table] = index + 1
        if atFirst[table] <= index {
            atFirst[table] = index + 1
            now[table] += 1
        }
        return Row(table: table, index: index, isInserted: false)
    }

    // MARK: The end

    /// Returns the trace of all lines that were read.
    mutating func trace() throws(ValueFault) -> Trace {
        if let open, open.missing > 0 { throw cut(open) }
        guard !isWorkload || hasEnded else {
            throw ValueFault(
                "stops in line \(lastLine) without 'end': it is cut off (record it anew, or add 'TIME end')")
        }
        if dueNs.isEmpty { throw ValueFault("holds no due time") }
        return Trace(dueNs: dueNs, endNs: lastNs, workload: isWorkload ? workload : nil)
    }

    private var workload: WorkloadSpec {
        var starts: [Int] = []
        var total = 0
        for count in atFirst {
            starts.append(total)
            total += count
        }
        var decisive = Array(repeating: Set<Substring>(), count: atFirst.count)
        for watch in watches { decisive[watch.table].formUnion(watch.columns) }
        var spec = WorkloadSpec()
        spec.rows = atFirst
        spec.commits = commits.map { commit in
            commit.map { operation in
                let row = operation.row
                let moves = operation.kind == .touch && !decisive[row.table].isDisjoint(with: operation.columns)
                return WorkloadSpec.Operation(
                    kind: moves ? .move : operation.kind, table: row.table,
                    row: row.isInserted ? total + row.index : starts[row.table] + row.index)
            }
        }
        for watch in watches {
            let isLasting = watch.fromNs <= dueNs[0] && watch.untilNs ?? .max >= dueNs[dueNs.count - 1]
            let recorded = WorkloadSpec.Watch(
                table: watch.table, share: watch.share ?? 0.5, order: watch.order, fromNs: watch.fromNs,
                untilNs: watch.untilNs
            )
            if isLasting { spec.lasting.append(recorded) } else { spec.passing.append(recorded) }
        }
        return spec
    }

    private func fault(_ what: String) -> ValueFault { ValueFault("has in line \(line) \(what)") }

    private func cut(_ commit: (line: Int, missing: Int, announced: Int)) -> ValueFault {
        ValueFault(
            "has in line \(commit.line) a commit of \(commit.announced) operations, and only "
                + "\(commit.announced - commit.missing) of them by line \(lastLine): it is cut off, or the number is wrong (record "
                + "it anew, or correct it)")
    }
}
