// Tests of the order of long lists, which the store keeps separately from the elements' rows.
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Shelf: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var name = ""
    @Listed var numbers: List<Int>
}

private final class Other: StoredObject {
    @Stored var name = ""
}

private struct Cancelled: Error {}

/// Arrays that lists are compared with.
private struct Shelves {
    var random: SeededRandom
    var numbers: [[Int]]
    private var next = 0

    init(seed: UInt64, count: Int) {
        random = SeededRandom(seed: seed)
        numbers = Array(repeating: [], count: count)
    }

    static func shelf(_ id: Int, _ connection: Connection) throws -> Shelf {
        if let shelf = try connection.object(Shelf.self, forPrimaryKey: id) { return shelf }
        let shelf = Shelf()
        shelf.id = id
        try connection.add(shelf)
        return shelf
    }

    /// Changes a list and its array.
    mutating func change(_ id: Int, _ connection: Connection) throws {
        let list = try Self.shelf(id, connection).numbers
        var model = numbers[id]
        defer { numbers[id] = model }
        if model.isEmpty || random.oneIn(6) {
            let new = (0..<random.below(random.oneIn(4) ? 500 : 20) + 1).map { next + $0 }
            next += new.count
            list.append(contentsOf: new)
            model += new
            return
        }
        let center = random.below(model.count)
        for _ in 0..<random.below(30) + 1 where !model.isEmpty {
            next += 1
            func place() -> Int { random.oneIn(3) ? random.below(model.count) : min(center, model.count - 1) }
            let (at, other) = (place(), place())
            switch random.below(8) {
            case 0, 1:
                list.insert(next, at: at)
                model.insert(next, at: at)
            case 2:
                list.insert(next, at: random.oneIn(2) ? 0 : model.count)
                model.insert(next, at: list[0] == next ? 0 : model.count)
            case 3:
                list.remove(at: at)
                model.remove(at: at)
            case 4:
                list.move(from: at, to: other)
                model.insert(model.remove(at: at), at: other)
            case 5:
                list.swapAt(at, other)
                model.swapAt(at, other)
            case 6:
                list[at] = next
                model[at] = next
            default:
                #expect(list[at] == model[at] && list.count == model.count)
            }
        }
        if !model.isEmpty, random.oneIn(5) {
            for _ in 0..<random.below(model.count) {
                list.remove(at: min(center, model.count - 1))
                model.remove(at: min(center, model.count - 1))
            }
        }
        if random.oneIn(40) {
            list.removeAll()
            model = []
        }
    }

    /// Deletes an object with its list.
    mutating func delete(_ id: Int, _ connection: Connection) throws {
        try connection.delete(Self.shelf(id, connection))
        numbers[id] = []
    }

    func check(_ connection: Connection, _ comment: Comment) throws {
        for (id, model) in numbers.enumerated() {
            let list = try connection.object(Shelf.self, forPrimaryKey: id)?.numbers
            #expect(list.map { Array($0) } ?? [] == model, comment)
            #expect(list?.count ?? 0 == model.count, comment)
            for index in stride(from: 0, to: model.count, by: 37) { #expect(list?[index] == model[index], comment) }
        }
    }
}

@Suite("Orders of lists")
struct ListOrderTests {
    private static let models: [StoredObject.Type] = [Shelf.self, Other.self]

    @Test("equal those of arrays, with two stores that write in turn, cancelled writes and deletions", arguments: 0..<6)
    func history(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        let test = try TestStore(Self.models, durability: round == 5 ? .memory : .relaxed)
        let beside =
            round == 5 ? test.store : try Store(.init(path: test.path, models: Self.models, durability: .relaxed))
        var shelves = Shelves(seed: seed, count: 3)
        for turn in 0..<30 {
            let before = shelves
            do {
                try (shelves.random.oneIn(2) ? beside : test.store).write { connection in
                    for _ in 0..<shelves.random.below(4) + 1 {
                        let id = shelves.random.below(3)
                        if shelves.random.oneIn(15) {
                            try shelves.delete(id, connection)
                        } else {
                            try shelves.change(id, connection)
                        }
                    }
                    if shelves.random.oneIn(5) { throw Cancelled() }
                }
            } catch is Cancelled {
                shelves.numbers = before.numbers
            }
            try test.store.read { try shelves.check($0, comment) }
            guard turn % 6 == 5 else { continue }
            let report = try beside.verify()
            #expect(report.isWhole, "\(comment): \(report.damage)")
        }
    }

    @Test("are restored if part of a write is cancelled")
    func parts() throws {
        let seed = SeededRandom.base
        let test = try TestStore(Self.models)
        var shelves = Shelves(seed: seed, count: 2)
        for _ in 0..<12 {
            try test.store.write { connection in
                let transaction = try #require(connection.transaction)
                for _ in 0..<4 {
                    let before = shelves.numbers
                    try transaction.beginPart()
                    try shelves.check(connection, "TIDEGAUGE_SEED=\(seed)")
                    try shelves.change(0, connection)
                    try shelves.change(1, connection)
                    if shelves.random.oneIn(2) {
                        transaction.cancelPart()
                        shelves.numbers = before
                    } else {
                        try transaction.commitPart()
                    }
                }
            }
            try test.store.read { try shelves.check($0, "TIDEGAUGE_SEED=\(seed)") }
            #expect(try test.store.verify().isWhole)
        }
    }

    @Test("show a connection its own writes on the delivered version while others write", arguments: 0..<6)
    func ownWrites(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        let test = try TestStore(Self.models)
        let beside = try Store(.init(path: test.path, models: Self.models, durability: .relaxed))
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var own = Shelves(seed: seed, count: 1)
        var random = SeededRandom(seed: seed &+ 100)
        try beside.write { try own.change(0, $0) }
        try connection.refresh()
        for turn in 0..<40 {
            switch random.below(5) {
            case 0: try beside.write { try $0.add(Other()) }
            case 1:
                // Elements of all shelves' lists are in one table.
                try beside.write { try Shelves.shelf(7, $0).numbers.append(turn) }
            case 2:
                try connection.refresh()
            default:
                try connection.write {
                    try own.change(0, connection)
                    if random.oneIn(2) { try own.check(connection, comment) }
                }
            }
            try own.check(connection, comment)
        }
        try connection.refresh()
        try own.check(connection, comment)
        #expect(try beside.verify().isWhole)
    }

    @Test("are made of whole nodes, whatever their positions are")
    func longPositions() throws {
        let test = try TestStore(Self.models)
        var model = [0, 1]
        try test.store.write { try Shelves.shelf(0, $0).numbers.append(contentsOf: model) }
        for _ in 0..<3 {
            try test.store.write { connection in
                let list = try Shelves.shelf(0, connection).numbers
                for _ in 0..<1_000 {
                    model.insert(model.count, at: 1)
                    list.insert(model.count - 1, at: 1)
                }
            }
        }
        try test.store.read { try #expect(Array(Shelves.shelf(0, $0).numbers) == model) }
        #expect(try test.store.verify().isWhole)
        try test.store.write { connection in
            let list = try Shelves.shelf(0, connection).numbers
            while list.count > 3 {
                list.remove(at: list.count / 3)
                model.remove(at: model.count / 3)
            }
        }
        try test.store.read { try #expect(Array(Shelves.shelf(0, $0).numbers) == model) }
        #expect(try test.store.verify().isWhole)
    }

    /// Changes the order of a list without its rows.
    private func tamper(_ store: Store, _ body: (RankWriter) throws -> Void) throws {
        try store.write { connection in
            let shelf = try Shelves.shelf(0, connection)
            shelf.name += "."
            let (transaction, binding) = (try #require(connection.transaction), try #require(shelf.binding))
            let list = try #require(binding.table.links?.lists.first)
            try transaction.closeRow()
            try body(
                RankWriter(
                    order: list.order, owner: binding.id.rawValue, transaction: transaction.transaction,
                    storage: transaction.storage))
        }
    }

    @Test("are verified: an order that differs from that of the elements is damage")
    func verified() throws {
        let test = try TestStore(Self.models)
        try test.store.write { try Shelves.shelf(0, $0).numbers.append(contentsOf: 0..<300) }
        #expect(try test.store.verify().isWhole)
        let position = ListPosition.last(17)
        let element = try test.store.read { connection in
            let order = try #require(try Shelves.shelf(0, connection).binding?.table.links?.lists.first?.order)
            let owner = try #require(try Shelves.shelf(0, connection).binding?.id)
            return order.ids(of: owner, in: try #require(connection.delivered))[16]
        }
        try position.withUnsafeBytes { position in
            try tamper(test.store) { try $0.remove(element, at: position) }
            #expect(try !test.store.verify().isWhole)
            try tamper(test.store) { try $0.insert(ObjectID(rawValue: 9_999), at: position) }
            #expect(try !test.store.verify().isWhole)
            try tamper(test.store) {
                try $0.remove(ObjectID(rawValue: 9_999), at: position)
                try $0.insert(element, at: position)
            }
        }
        #expect(try test.store.verify().isWhole)
    }

    @Test("report a changed node to a reader and to a writer")
    func damagedNode() throws {
        let test = try TestStore(Self.models)
        try test.store.write { try Shelves.shelf(0, $0).numbers.append(contentsOf: 0..<300) }
        try tamper(test.store) { writer in
            var value = MDB_val()
            let key = RankKey(writer.owner, 1)
            #expect(key.with { mdb_get(writer.transaction, writer.order.handle, &$0, &value) } == 0)
            var bytes = Array(value.bytes)
            bytes[40] ^= 1
            bytes.withUnsafeBytes { bytes in
                var value = MDB_val(bytes)
                #expect(key.with { mdb_put(writer.transaction, writer.order.handle, &$0, &value, 0) } == 0)
            }
        }
        #expect(try !test.store.verify().isWhole)
        // A store trusts a node that it has written or checked, so the store is opened again.
        test.store.close()
        let store = try Store(test.store.configuration)
        #expect {
            try store.read { _ = Array(try Shelves.shelf(0, $0).numbers) }
        } throws: { error in
            guard case .damaged(_, "Shelf.numbers", nil, "the order of the list of object 1")? = error as? StoreError
            else {
                return false
            }
            return true
        }
        #expect(throws: StoreError.self) { try store.write { try Shelves.shelf(0, $0).numbers.remove(at: 0) } }
    }
}
