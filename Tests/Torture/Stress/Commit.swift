// Changes of one commit. No state is kept between commits: a key is drawn, and the existence of its row decides the
// possible changes. So threads and processes need not coordinate.
import Foundation
import StillingWell
import StillingWellSeededRandom

/// An error that cancels a write after it has made changes.
struct RolledBack: Error {}

struct Commit: Sendable {
    /// Number of the writer in the ledger.
    let writer: Int
    let plan: Plan

    /// Changes a few rows, and rarely many. Must be called inside a write.
    func make(_ connection: Connection, _ random: inout SeededRandom) throws {
        let mark = try Ledger.add(writer, connection)
        if random.oneIn(5) {
            for _ in 0..<random.from(1...2) { try changeBoard(mark, connection, &random) }
            if random.oneIn(2) { return }
        }
        if random.oneIn(1_500) { try refill(SmallRow.self, keys: plan.smallKeys, mark, connection, &random) }
        if random.oneIn(10) {
            if random.oneIn(150) { try refill(LargeRow.self, keys: plan.largeKeys, mark, connection, &random) }
            let count = random.oneIn(24) ? random.from(200...600) : random.from(1...6)
            for _ in 0..<count { try change(LargeRow.self, random.below(plan.largeKeys), mark, connection, &random) }
        } else {
            let count = random.oneIn(16) ? random.from(8...24) : random.from(1...3)
            for _ in 0..<count { try change(SmallRow.self, random.below(plan.smallKeys), mark, connection, &random) }
        }
    }

    /// Changes a few small rows inside a write with suppressed notifications. Returns the rows before and after.
    func makeSilently(_ connection: Connection, _ random: inout SeededRandom) throws -> Silence {
        func value(_ key: Int) throws -> RowValue? {
            try connection.object(SmallRow.self, forPrimaryKey: key).map { RowValue($0) }
        }
        let mark = try Ledger.add(writer, connection)
        var before: [Int: RowValue?] = [:]
        for _ in 0..<random.from(1...3) {
            let key = random.below(plan.smallKeys)
            if before[key] == nil { before[key] = .some(try value(key)) }
            try change(SmallRow.self, key, mark, connection, &random)
        }
        let rows = try before.flatMap { key, old -> [Silence.Row] in
            let new = try value(key)
            if let old, let new, old.id == new.id { return [Silence.Row(id: old.id, before: old, after: new)] }
            return [old, new].compactMap(\.self).map { row in
                Silence.Row(id: row.id, before: row.id == old?.id ? old : nil, after: row.id == new?.id ? new : nil)
            }
        }
        return Silence(version: try Ledger.version(connection), rows: rows)
    }

    /// Fills a table with rows for about two thirds of the keys.
    func fill<Object: StressRow>(
        _ type: Object.Type, keys: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        for key in 0..<keys where !random.oneIn(3) { try insert(type, key, 0, connection, &random) }
    }

    /// Deletes all rows of a table. In half of the cases, also fills it anew.
    private func refill<Object: StressRow>(
        _ type: Object.Type, keys: Int, _ mark: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        try connection.deleteAll(type)
        if random.oneIn(2) { return }
        for key in 0..<keys where !random.oneIn(3) { try insert(type, key, mark, connection, &random) }
    }

    /// Adds boards for about three quarters of the keys. They link to small rows that exist already.
    func fillBoards(_ connection: Connection, _ random: inout SeededRandom) throws {
        for key in 0..<plan.boardKeys where !random.oneIn(4) { try insertBoard(key, 0, connection, &random) }
    }

    private func someSmallRow(_ connection: Connection, _ random: inout SeededRandom) throws -> SmallRow? {
        let keys = random.oneIn(2) ? plan.popularKeys : plan.smallKeys
        return try connection.object(SmallRow.self, forPrimaryKey: random.below(keys))
    }

    private func insertBoard(
        _ key: Int, _ mark: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        let board = Board()
        board.key = key
        board.score = random.below(Values.scores)
        board.mark = mark
        board.lead = try someSmallRow(connection, &random)
        for _ in 0..<random.below(4) {
            if let row = try someSmallRow(connection, &random) { board.members.append(row) }
            board.tags.append(random.below(Values.tags))
        }
        try connection.add(board)
    }

    private func changeBoard(_ mark: Int, _ connection: Connection, _ random: inout SeededRandom) throws {
        let key = random.below(plan.boardKeys)
        guard let board = try connection.object(Board.self, forPrimaryKey: key) else {
            return try insertBoard(key, mark, connection, &random)
        }
        if random.oneIn(24) { return try connection.delete(board) }
        board.mark = mark
        switch random.below(4) {
        case 0: board.score = random.below(Values.scores)
        case 1: board.lead = try someSmallRow(connection, &random)
        case 2: change(board.tags, &random) { random in random.below(Values.tags) }
        default:
            let rows = try (0..<3).compactMap { _ in try someSmallRow(connection, &random) }
            if !rows.isEmpty { change(board.members, &random) { random in random.one(of: rows) } }
        }
    }

    /// Makes one random change of a list. The list stays short.
    private func change<Element: ListElement>(
        _ list: List<Element>, _ random: inout SeededRandom, _ element: (inout SeededRandom) -> Element
    ) {
        let count = list.count
        switch count == 0 ? 0 : count > 8 ? random.from(5...7) : random.below(8) {
        case 0: list.append(element(&random))
        case 1: list.insert(element(&random), at: random.below(count + 1))
        case 2: list.move(from: random.below(count), to: random.below(count))
        case 3: list.swapAt(random.below(count), random.below(count))
        case 4: list[random.below(count)] = element(&random)
        case 5: list.remove(at: random.below(count))
        case 6: random.oneIn(4) ? list.removeAll() : list.removeLast()
        default: list.removeFirst()
        }
    }

    private func change<Object: StressRow>(
        _ type: Object.Type, _ key: Int, _ mark: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        guard let row = try connection.object(type, forPrimaryKey: key) else {
            try insert(type, key, mark, connection, &random)
            // An insertion and a deletion in the same commit. No observer may be told of it.
            if random.oneIn(16), let row = try connection.object(type, forPrimaryKey: key) {
                try connection.delete(row)
            }
            return
        }
        // Rows that many links lead to are deleted less often, so that observers see them change.
        switch random.below(key < plan.popularKeys ? 64 : 16) {
        case 0, 1: try connection.delete(row)
        case 2:
            // A new object with the same key: a deletion and an insertion.
            try connection.delete(row)
            try insert(type, key, mark, connection, &random)
        default: for _ in 0..<random.from(1...3) { set(row, mark, &random) }
        }
    }

    private func insert<Object: StressRow>(
        _ type: Object.Type, _ key: Int, _ mark: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        let row = Object()
        row.key = key
        for _ in 0..<3 { set(row, mark, &random) }
        try connection.add(row)
        if random.oneIn(3) { set(row, mark, &random) }
    }

    /// Sets the mark and one other column, the latter sometimes to the value that it already has.
    private func set(_ row: some StressRow, _ mark: Int, _ random: inout SeededRandom) {
        row.mark = mark
        switch random.below(7) {
        case 0: row.score = random.below(Values.scores)
        case 1: row.weight = random.one(of: Values.weights)
        case 2: row.isDone = random.oneIn(2)
        case 3: row.title = random.one(of: Values.titles)
        case 4: row.due = Values.due(&random)
        case 5: row.group = Values.group(&random)
        default: row.score = row.score
        }
    }
}
