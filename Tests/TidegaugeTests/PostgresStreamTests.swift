// Tests of what a server sends from its log. No server is needed.
import StillingWellSeededRandom
import Testing
import TidegaugeDriver

@testable import TidegaugePostgresDriver

@Suite struct PostgresStreamTests {
    /// Bytes as the server sends them.
    private struct Bytes {
        var all: [UInt8] = []

        mutating func add(_ mark: Unicode.Scalar) { all.append(UInt8(ascii: mark)) }
        mutating func add<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.bigEndian) { all += Array($0) }
        }
        mutating func add(row values: [Int64?]) {
            add(Int16(values.count))
            for value in values {
                guard let value else {
                    add("n")
                    continue
                }
                add("b")
                add(Int32(8))
                add(value)
            }
        }
    }

    private static func change(_ body: (inout Bytes) -> Void) -> [UInt8] {
        var bytes = Bytes()
        bytes.add("w")
        for _ in 0..<3 { bytes.add(Int64(7)) }
        body(&bytes)
        return bytes.all
    }

    private static func read(_ bytes: [UInt8]) throws -> ReplicationMessage {
        try bytes.withUnsafeBytes { try ReplicationMessage($0) }
    }

    private static let row = Item(key: 5, group: 0, score: -9, stamp: 77)

    private static let messages: [(bytes: [UInt8], message: ReplicationMessage)] = [
        (
            change {
                $0.add("B")
                for value in [Int64(100), 1] { $0.add(value) }
                $0.add(Int32(bitPattern: 4_000_000_000))
            }, .change(.begin(transaction: 4_000_000_000))
        ),
        (
            change {
                $0.add("C")
                $0.add(UInt8(0))
                for value in [Int64(100), 140, 1] { $0.add(value) }
            }, .change(.commit(at: 100, end: 140))
        ),
        (
            change {
                $0.add("I")
                $0.add(Int32(1))
                $0.add("N")
                $0.add(row: [5, 0, -9, 77])
            }, .change(.write(row, replacing: nil))
        ),
        (
            change {
                $0.add("U")
                $0.add(Int32(1))
                $0.add("K")
                $0.add(row: [4, nil, nil, nil])
                $0.add("N")
                $0.add(row: [5, 0, -9, 77])
            }, .change(.write(row, replacing: 4))
        ),
        (
            change {
                $0.add("D")
                $0.add(Int32(1))
                $0.add("K")
                $0.add(row: [5, nil, nil, nil])
            }, .change(.delete(key: 5))
        ),
    ]

    @Test(arguments: messages.indices) func aMessageIsRead(_ index: Int) throws {
        let (bytes, message) = Self.messages[index]
        #expect(try Self.read(bytes) == message)
        // A message that is cut at any place is an error.
        for length in 0..<bytes.count {
            #expect(throws: PostgresError.self) { _ = try Self.read(Array(bytes.prefix(length))) }
        }
    }

    @Test func theServerIsHeardThatAsksForAnAnswer() throws {
        var bytes = Bytes()
        bytes.add("k")
        for value in [Int64(300), 1] { bytes.add(value) }
        bytes.add(UInt8(1))
        #expect(try Self.read(bytes.all) == .keepAlive(end: 300, wantsAnswer: true))
    }

    @Test(arguments: [
        [UInt8(ascii: "x")], change { $0.add("Z") },
        change {
            $0.add("I")
            $0.add(Int32(1))
            $0.add("N")
            $0.add(row: [1, 2, 3])
        },
    ])
    func whatIsNoMessageIsRefused(_ bytes: [UInt8]) {
        #expect(throws: PostgresError.self) { _ = try Self.read(bytes) }
    }

    @Test func numbersOfTransactionsAreWhole() {
        let turn = Int64(1) << 32
        for known in [700, turn - 10, turn + 10, 5 * turn + 3] {
            for distance in [Int64(-5), 0, 5, 1_000_000] where known + distance >= 0 {
                let number = known + distance
                #expect(StreamedChange.widened(UInt32(truncatingIfNeeded: number), near: known) == number)
            }
        }
    }

    @Test(arguments: [
        (PostgresDriver.Way.poll, 120_022, true), (.notify, 130_000, false), (.wal, 130_011, true),
        (.wal, 140_000, false), (.doorbell, 150_004, false),
    ])
    func anOldServerIsRefusedByName(_ way: PostgresDriver.Way, version: Int, isRefused: Bool) {
        let obstacle = way.obstacle(Int32(version))
        #expect((obstacle != nil) == isRefused)
        if let obstacle {
            #expect(obstacle.contains("PostgreSQL \(version / 10_000) ") && obstacle.contains("or later"))
        }
    }

    // MARK: Rows that are kept

    private static let queries: [Query] = [
        Query(scores: 0..<500, order: .scoreAscending), Query(scores: 200..<900, order: .scoreDescending),
        Query(keys: 10..<60), Query(group: 1, order: .scoreDescending), Query(group: 0), Query(),
    ]

    /// The view equals a fresh query, and each change set leads from the previous rows to it. A scale of 40 fills
    /// several chunks.
    @Test(arguments: seeds(20), queries.indices) func aViewIsWhatWouldBeFound(seed: UInt64, query: Int) {
        check(seed: seed, query: query, scale: 1, rounds: 60)
        check(seed: seed, query: query, scale: 40, rounds: 10)
    }

    private func check(seed: UInt64, query: Int, scale: Int, rounds: Int) {
        var random = SeededRandom(seed: seed)
        let query = Self.queries[query]
        var rows: [Int64: AgedItem] = [:]
        var view = OrderedView(query, [])
        var nextScore: Int64 = 0
        for _ in 0..<rounds {
            let old = rows
            for _ in 0..<random.below(12 * scale) {
                let key = Int64(random.below(80 * scale))
                nextScore += 1
                // Scores are below 1,000, and some rows have equal ones.
                let item = Item(
                    key: key, group: key % 2, score: nextScore * 7_919 % 1_000 * 1_000 + nextScore, stamp: nextScore)
                let score = random.below(2) == 0 ? rows[key]?.item.score ?? item.score : item.score
                if random.below(4) == 0 {
                    rows[key] = nil
                } else {
                    let age = rows[key]?.age ?? UInt64(nextScore)
                    rows[key] = AgedItem(
                        item: Item(key: key, group: item.group, score: score % 1_000, stamp: item.stamp), age: age)
                }
            }
            let before = view
            view.apply(Set(old.keys).union(rows.keys).filter { old[$0] != rows[$0] }.map { (old[$0], rows[$0]) })
            let expected = Self.found(query, rows)
            var kept: [Item] = []
            view.forEach(0..<Int.max) { kept.append($0) }
            #expect(kept == expected, "seed \(seed)")
            Self.check(view.changes(since: before), Self.found(query, old), expected, seed)
        }
    }

    private static func found(_ query: Query, _ rows: [Int64: AgedItem]) -> [Item] {
        rows.values.filter { query.matches(key: $0.item.key, group: $0.item.group, score: $0.item.score) }
            .sorted { left, right in
                switch query.order {
                case .none, .list: left.age < right.age
                case .scoreAscending: (left.item.score, left.item.key) < (right.item.score, right.item.key)
                case .scoreDescending: (-left.item.score, left.item.key) < (-right.item.score, right.item.key)
                }
            }.map(\.item)
    }

    private static func check(_ changes: OrderedView.Changes, _ old: [Item], _ new: [Item], _ seed: UInt64) {
        var rows = old
        for index in changes.deletions.reversed() { rows.remove(at: index) }
        for index in changes.insertions { rows.insert(new[index], at: index) }
        for index in changes.modifications { rows[index] = new[index] }
        #expect(rows == new, "seed \(seed)")
    }

    // MARK: The order of commits

    private static func beginning(_ text: String) throws -> PostgresSnapshot { try #require(PostgresSnapshot(text)) }

    /// Commits have the order in which they were sent. Earlier commits come before them, and unseen ones after.
    @Test func commitsAreInTheOrderOfTheLog() throws {
        let stream = ShownStream()
        let first = stream.begin(at: try Self.beginning("700:703:701"))
        let second = stream.add(705, end: 10)
        let third = stream.add(701, end: 20)
        let order = try stream.order(ofCommits: [701, 705, 702, 709])
        #expect(order.versions == [702: 1, 705: 2, 701: 3, 709: 4])
        #expect([0, first, second, third].map(order.standing) == [0, 1, 2, 3])
        #expect(order.problem == nil)
        #expect(stream.sees(second, 705) && !stream.sees(second, 701) && !stream.sees(third, 709))
    }

    /// Commits made while nothing was sent come at the beginning of the next stream.
    @Test func commitsOfAGapHaveAPlace() throws {
        let stream = ShownStream()
        _ = stream.begin(at: try Self.beginning("700:700:"))
        let before = stream.add(700, end: 10)
        let again = stream.begin(at: try Self.beginning("703:703:"))
        let after = stream.add(703, end: 40)
        let order = try stream.order(ofCommits: [703, 702, 701, 700])
        #expect(order.versions == [700: 1, 701: 2, 702: 3, 703: 4])
        #expect([before, again, after].map(order.standing) == [1, 3, 4])
        #expect(order.problem == nil)
    }

    /// Two processes number the positions of one log independently.
    @Test func placesOfAnotherProcessAreVersionsHere() throws {
        let (here, there) = (ShownStream(), ShownStream())
        _ = here.begin(at: try Self.beginning("700:700:"))
        _ = there.begin(at: try Self.beginning("700:702:700"))
        var tokens: [Int64] = []
        for (place, transaction) in [UInt32(702), 700, 703].enumerated() {
            if place == 0 { _ = here.add(701, end: 5) }
            _ = here.add(transaction, end: LogPosition(10 * (place + 1)))
            if transaction != 703 { tokens.append(there.add(transaction, end: LogPosition(10 * (place + 1)))) }
        }
        let order = try here.order(ofCommits: [700, 701, 702, 703], alsoShown: [try there.shown()])
        #expect(order.versions == [701: 1, 702: 2, 700: 3, 703: 4] && order.problem == nil)
        #expect(tokens.map(try #require(order.standingElsewhere.first)) == [2, 3])
    }

    @Test func twoOrdersOfOneLogAreAFinding() throws {
        let (here, there) = (ShownStream(), ShownStream())
        for (stream, transactions) in [(here, [UInt32(700), 701]), (there, [701, 700])] {
            _ = stream.begin(at: try Self.beginning("700:700:"))
            for (place, transaction) in transactions.enumerated() {
                _ = stream.add(transaction, end: LogPosition(place + 1))
            }
        }
        let order = try here.order(ofCommits: [700, 701], alsoShown: [try there.shown()])
        #expect(order.problem == "two processes were sent the same commits in different orders")
    }

    @Test func whatIsSentTwiceIsAFinding() throws {
        let stream = ShownStream()
        _ = stream.begin(at: try Self.beginning("700:702:"))
        _ = stream.add(701, end: 10)
        #expect(
            try stream.order(ofCommits: [701]).problem?.hasPrefix("overlap: the stream sends transaction 701") == true)
        let other = ShownStream()
        _ = other.begin(at: try Self.beginning("700:700:"))
        _ = other.add(700, end: 20)
        _ = other.add(701, end: 10)
        #expect(try other.order(ofCommits: [700, 701]).problem != nil)
    }
}
