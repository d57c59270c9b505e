// What reading costs, question by question, at 100 000 rows: CPU time of an operation, and the instructions that callgrind
// counts where there is one. Those are the difference of a long and a short run of the same loop, each in a process of its
// own, so what a process costs anyway is in neither.
import Foundation
import LiveStore
import Measure

final class ReadRow: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
    @Stored var score = 0
    @Stored(.indexed) var kind = 0
    @Stored var done = false
}

final class ReadList: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Listed var numbers: List<Int>
}

protocol ReadNumbered: AnyObject {
    var id: Int { get set }
}

/// Three links from a row to what it is ordered by.
final class ReadHead: StoredObject, ReadNumbered {
    @Stored(.primaryKey) var id = 0
    @Stored var score = 0
    @Stored var kind = 0
    @Linked var next: ReadSecond?
}

final class ReadSecond: StoredObject, ReadNumbered {
    @Stored(.primaryKey) var id = 0
    @Linked var next: ReadThird?
}

final class ReadThird: StoredObject, ReadNumbered {
    @Stored(.primaryKey) var id = 0
    @Linked var next: ReadEnd?
}

final class ReadEnd: StoredObject, ReadNumbered {
    @Stored(.primaryKey) var id = 0
    @Stored var score = 0
}

enum ReadingCost {
    /// The command that runs one loop and nothing else: question, operations, folder of the store.
    static let loopCommand = "reading-loop"
    static let rows = 100_000
    private static let kinds = 1_000
    private static let listLengths = [100, 10_000, 100_000]
    /// Rows of which each leads over three links.
    private static let heads = 10_000

    enum Place {
        /// All operations in one read block.
        case read
        /// Each in a write block of its own.
        case write
        /// On a connection of this thread's run loop.
        case live
        /// On such a connection that observes the rows of half the scores, at each version somebody else has committed.
        case observed
        /// As `write`, beside such a connection on which ten results were observed, and are not any more.
        case unobserved
        /// Each observes anew on such a connection, and waits for its first callback.
        case first
        /// Each opens the store itself.
        case none
    }

    struct Question: Sendable {
        let name: String
        let place: Place
        /// Operations of a timed run; a counted one does a part of them.
        let operations: Int
        let ask: @Sendable (Connection, Int) throws -> Int
    }

    private static let questions = [
        Question(name: "get by key, one property", place: .read, operations: 20_000) { connection, number in
            try connection.object(ReadRow.self, forPrimaryKey: number * 7_919 % rows)?.score ?? 0
        },
        Question(name: "count where key ==", place: .read, operations: 200) { connection, number in
            try all(connection).where(\.id == number).count
        },
        Question(name: "count where key in 3", place: .read, operations: 200) { connection, number in
            try all(connection).where((\ReadRow.id).isOne(of: [number, 9_000, -1])).count
        },
        Question(name: "count of a key range of 100", place: .read, operations: 200) { connection, number in
            try all(connection).where(\.id >= number * 10 && \.id < number * 10 + 100).count
        },
        Question(name: "count of all", place: .read, operations: 200) { connection, _ in try all(connection).count },
        Question(name: "count where index ==, 100 rows", place: .read, operations: 2_000) { connection, number in
            try all(connection).where(\.kind == number % kinds).count
        },
        Question(name: "count where Bool, half the rows", place: .read, operations: 40) { connection, _ in
            try all(connection).where(\.done == true).count
        },
        Question(name: "count where text contains", place: .read, operations: 40) { connection, _ in
            try all(connection).where((\ReadRow.title).contains("99")).count
        },
        Question(name: "sum of all", place: .read, operations: 40) { connection, _ in
            try all(connection).sum(of: \.score)
        },
        Question(name: "iterate all, one property", place: .read, operations: 20) { connection, _ in
            try all(connection).reduce(0) { $0 &+ $1.score }
        },
        Question(name: "first 10 in key order", place: .read, operations: 2_000) { connection, _ in
            try all(connection).sorted(by: \.id).prefix(10).reduce(0) { $0 + $1.id }
        },
        Question(name: "first 10 by an index", place: .read, operations: 2_000) { connection, _ in
            try all(connection).sorted(by: \.kind).prefix(10).reduce(0) { $0 + $1.kind }
        },
        Question(name: "last of an index", place: .read, operations: 2_000) { connection, _ in
            try all(connection).sorted(by: \.kind).last?.kind ?? 0
        },
        Question(name: "first 10 of half, by an index downwards", place: .read, operations: 2_000) { connection, _ in
            try all(connection).where(\.done == true).sorted(by: \.kind, ascending: false).prefix(10).reduce(0) {
                $0 + $1.kind
            }
        },
        Question(name: "first 10 by a property without an index", place: .read, operations: 20) { connection, _ in
            try all(connection).sorted(by: \.score).prefix(10).reduce(0) { $0 + $1.score }
        },
        Question(name: "largest value of an index", place: .read, operations: 2_000) { connection, _ in
            try all(connection).max(of: \.kind) ?? 0
        },
        Question(name: "live: 50 rows shown, 2 properties", place: .live, operations: 2_000) { connection, number in
            let shown = try all(connection)
            return (0..<50).reduce(0) { sum, index in
                let row = shown[number % 1_000 + index]
                return sum + row.id + row.score
            }
        },
        Question(name: "observed: one delivery", place: .observed, operations: 2_000) { connection, _ in
            try observed(connection).count
        },
        Question(name: "observed: one delivery, and the sum of half", place: .observed, operations: 2_000) {
            connection, _ in try observed(connection).sum(of: \.score)
        },
        Question(name: "first delivery of 10 000, by one property", place: .first, operations: 40) { connection, _ in
            try untilTold { body in try heads(connection).sorted(by: \.score).observe { _ in body() } }
        },
        Question(name: "first delivery of 10 000, ordered over three links", place: .first, operations: 40) {
            connection, _ in
            try untilTold { body in
                try heads(connection).sorted(by: \.next?.next?.next?.score).observe { _ in body() }
            }
        },
        Question(name: "first delivery of 10 000, filtered over three links", place: .first, operations: 40) {
            connection, _ in
            try untilTold { body in
                try heads(connection).where(\.next?.next?.next?.score >= 500).sorted(by: \.score).observe { _ in body()
                }
            }
        },
        Question(name: "first delivery of 10 000, distinct by 100 values", place: .first, operations: 40) {
            connection, _ in
            try untilTold { body in
                try heads(connection).sorted(by: \.score).distinct(by: [\.kind]).observe { _ in body() }
            }
        },
        Question(name: "first delivery of 10 000 in 100 sections", place: .first, operations: 40) { connection, _ in
            try untilTold { body in
                try heads(connection).sorted(by: \.score).sectioned(by: \.kind).observe { _ in body() }
            }
        },
        Question(name: "commit of one row", place: .write, operations: 20_000) { connection, number in
            try change(connection, number)
        },
        Question(name: "commit of one row, observed once", place: .unobserved, operations: 20_000) {
            connection, number in try change(connection, number)
        },
        Question(name: "open the store", place: .none, operations: 100) { _, _ in 0 },
    ]

    /// Of a list of each length.
    private static let listQuestions = listLengths.enumerated().flatMap { key, length in
        [
            Question(name: "list of \(length): move one", place: .write, operations: 2_000) { connection, number in
                let list = try connection.object(ReadList.self, forPrimaryKey: key)!.numbers
                list.move(from: number * 7_919 % length, to: number * 104_729 % length)
                return 1
            },
            Question(name: "list of \(length): insert and remove", place: .write, operations: 2_000) {
                connection, number in
                let list = try connection.object(ReadList.self, forPrimaryKey: key)!.numbers
                list.insert(number, at: number * 7_919 % length)
                list.remove(at: number * 104_729 % length)
                return 1
            },
            Question(name: "list of \(length): read by index", place: .read, operations: 20_000) { connection, number in
                try connection.object(ReadList.self, forPrimaryKey: key)!.numbers[number * 7_919 % length]
            },
        ]
    }

    static func all(_ connection: Connection) throws -> Results<ReadRow> {
        try connection.objects(ReadRow.self)
    }

    private static func heads(_ connection: Connection) throws -> Results<ReadHead> {
        try connection.objects(ReadHead.self)
    }

    static func change(_ connection: Connection, _ number: Int) throws -> Int {
        try connection.object(ReadRow.self, forPrimaryKey: number * 7_919 % rows)!.score += 1
        return 1
    }

    /// Runs this thread's run loop until what was observed has called back.
    private static func untilTold(_ observe: (@escaping () -> Void) throws -> NotificationToken) throws -> Int {
        try untilAllTold { [try observe($0)] }
    }

    /// The same until so many callbacks have come as there are observers.
    static func untilAllTold(_ observe: (@escaping () -> Void) throws -> [NotificationToken]) throws -> Int {
        var calls = 0
        let tokens = try observe { calls += 1 }
        while calls < tokens.count { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
        for token in tokens { token.invalidate() }
        return calls
    }

    private static func observed(_ connection: Connection) throws -> Results<ReadRow> {
        try all(connection).where(\.score >= 500).sorted(by: \.score)
    }

    private static let models: [StoredObject.Type] = [
        ReadRow.self, ReadList.self, ReadHead.self, ReadSecond.self, ReadThird.self, ReadEnd.self,
        ReadLarge.self,
    ]

    private static func open(_ path: String) throws -> Store {
        try Store(
            .init(path: path, models: models, durability: .relaxed, mapBytes: 1 << 30))
    }

    /// - Returns: what the operations came to, so that none of them is for nothing, and what they took.
    private static func loop(_ question: Question, _ operations: Int, _ path: String) throws -> (sum: Int, cpuNs: Int64)
    {
        if question.place == .none {
            let startNs = CPUProbe.currentThreadNs()
            for _ in 0..<operations { try open(path).close() }
            return (0, CPUProbe.currentThreadNs() - startNs)
        }
        let store = try open(path)
        defer { store.close() }
        var sum = 0
        if question.place == .observed { return try observedLoop(question, operations, store) }
        let live = [.live, .first, .unobserved].contains(question.place) ? try store.connect(on: .runLoop) : nil
        defer { withExtendedLifetime(live) {} }
        // What an interface holds: the tree that is shown is made here, once.
        let held = question.place == .live ? try live.map(all) : nil
        sum &+= held.map { $0[$0.count - 1].id } ?? 0
        defer { withExtendedLifetime(held) {} }
        if question.place == .unobserved {
            for number in 0..<10 {
                let connection = live!
                sum &+= try untilTold { body in
                    try all(connection).where(\.score >= 50 * number).sorted(by: \.score).observe { _ in body() }
                }
            }
            // Its connection is brought forward, as it is wherever a run loop runs, and lets go of its version.
            for number in 0..<300 {
                sum &+= try store.write { try question.ask($0, number) }
                if number % 100 == 99 { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.2)) }
            }
        }
        let startNs = CPUProbe.processNs()
        func run(_ connection: Connection) throws {
            for number in 0..<operations { sum &+= try question.ask(connection, number) }
        }
        switch question.place {
        case .read: try store.read(run)
        case .live, .first: try run(live!)
        case .write, .unobserved:
            for number in 0..<operations { sum &+= try store.write { try question.ask($0, number) } }
        case .none, .observed: break
        }
        return (sum, CPUProbe.processNs() - startNs)
    }

    /// Commits, and lets the deliveries be asked: the commits are in no figure.
    private static func observedLoop(
        _ question: Question, _ operations: Int, _ store: Store
    ) throws -> (sum: Int, cpuNs: Int64) {
        let connection = try store.connect(on: .runLoop)
        var sum = 0
        var number = 0
        let token = try observed(connection).observe { _ in sum &+= (try? question.ask(connection, number)) ?? 0 }
        defer { token.invalidate() }
        func commit() throws {
            number += 1
            try store.write { connection in
                try connection.object(ReadRow.self, forPrimaryKey: number * 7_919 % rows)!.score += 1
            }
        }
        func delivery() throws -> Int64 {
            try commit()
            let startNs = CPUProbe.currentThreadNs()
            try connection.refresh()
            return CPUProbe.currentThreadNs() - startNs
        }
        // Until upkeep knows what it is asked for, rows are read.
        var quick = 0
        for _ in 0..<10_000 where quick < 20 { quick = try delivery() < 1_000_000 ? quick + 1 : 0 }
        var cpuNs: Int64 = 0
        for _ in 0..<operations { cpuNs += try delivery() }
        return (sum, cpuNs)
    }

    /// Runs the loop that the arguments name.
    static func runLoop(_ arguments: [String]) throws {
        guard arguments.count == 3,
            let question = (questions + listQuestions + manyQuestions).first(where: { $0.name == arguments[0] }),
            let operations = Int(arguments[1])
        else { preconditionFailure("\(loopCommand) QUESTION OPERATIONS FOLDER") }
        if !FileManager.default.fileExists(atPath: arguments[2]) { try fill(arguments[2]) }
        print(try loop(question, operations, arguments[2]).sum)
    }

    static func run() throws {
        let folder = try PrivateFolder(in: PrivateFolder.memoryPlace)
        defer { folder.remove() }
        let path = "\(folder.path)/store"
        try fill(path)
        let counted = try InstructionCounted(in: folder.path)
        print("CPU µs     instructions   (one operation, \(rows) rows)")
        for question in questions + listQuestions + manyQuestions {
            let cpuNs = Double(try loop(question, question.operations, path).cpuNs) / Double(question.operations)
            let instructions = try counted?.perOperation(of: question.operations) { operations in
                [loopCommand, question.name, "\(operations)", path]
            }
            print("\(Timing.shown(cpuNs / 1e3))\t   \(instructions.map { "\($0)" } ?? "n/a")\t  \(question.name)")
        }
    }

    private static func fill(_ path: String) throws {
        let store = try open(path)
        defer { store.close() }
        for start in stride(from: 0, to: rows, by: 50_000) {
            try store.write { connection in
                for id in start..<start + 50_000 {
                    let row = ReadRow()
                    row.id = id
                    row.title = "the title of row \(id)"
                    row.score = id * 31 % 1_009
                    row.kind = id % kinds
                    row.done = id % 2 == 0
                    try connection.add(row)
                }
            }
        }
        try store.write { connection in
            for (key, length) in listLengths.enumerated() {
                let list = ReadList()
                list.id = key
                try connection.add(list)
                list.numbers.append(contentsOf: 0..<length)
            }
        }
        try store.write { try addLarge($0) }
        try store.write { connection in
            for id in 0..<heads {
                let (head, second, third, end) = (ReadHead(), ReadSecond(), ReadThird(), ReadEnd())
                for object in [head, second, third, end] as [any ReadNumbered] { object.id = id }
                (head.score, head.kind, end.score) = (id * 31 % 1_009, id * 7 % 100, id * 37 % 1_009)
                (head.next, second.next, third.next) = (second, third, end)
                try connection.add(head)
            }
        }
    }
}
