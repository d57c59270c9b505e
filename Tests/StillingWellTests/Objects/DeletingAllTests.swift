// Tests of deletions that are done at once: all objects of a class, and links to a deleted object.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Leaf: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var title = ""
    @Stored var image = Data()
    @Linked var parent: Leaf?
    @LinkingObjects(\Leaf.parent) var children: Backlinks<Leaf>
    @LinkingObjects(\Pointer.leaf) var pointers: Backlinks<Pointer>
}

private final class Pointer: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var number = 0
    @Stored var image = Data()
    @Linked var leaf: Leaf?
    @Linked var other: Leaf?
}

private final class Holder: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Listed var leaves: List<Leaf>
    @Listed var numbers: List<Int>
}

@Suite("Deleting at once")
struct DeletingAllTests {
    private static let models: [StoredObject.Type] = [Leaf.self, Pointer.self, Holder.self]

    /// Adds random objects. Values above 1 KiB are stored apart.
    private static func fill(_ store: Store, _ random: inout SeededRandom, first: Int) throws {
        try store.write { connection in
            var leaves = Array(try connection.objects(Leaf.self))
            for key in first..<first + 20 + random.below(200) {
                let leaf = Leaf()
                leaf.key = key
                leaf.title = "\(random.below(20))"
                if random.oneIn(10) { leaf.image = Data(repeating: 7, count: random.below(5_000)) }
                if !leaves.isEmpty, random.oneIn(2) { leaf.parent = leaves[random.below(leaves.count)] }
                try connection.add(leaf)
                leaves.append(leaf)
            }
            if random.oneIn(2) {
                for key in first..<first + random.below(100) {
                    let pointer = Pointer()
                    pointer.key = key
                    pointer.number = random.below(9)
                    if random.oneIn(10) { pointer.image = Data(repeating: 8, count: random.below(5_000)) }
                    if !random.oneIn(4) { pointer.leaf = leaves[random.below(min(4, leaves.count))] }
                    if random.oneIn(4) { pointer.other = leaves[random.below(leaves.count)] }
                    try connection.add(pointer)
                }
            }
            if random.oneIn(3) {
                for key in first..<first + random.below(5) {
                    let holder = Holder()
                    holder.key = key
                    try connection.add(holder)
                    for _ in 0..<random.below(9) { holder.leaves.append(leaves[random.below(leaves.count)]) }
                    holder.numbers.append(contentsOf: (0..<random.below(4)).map { $0 })
                }
            }
        }
    }

    /// All objects and what indexes find, as text.
    private static func content(_ store: Store) throws -> [String] {
        try store.read { connection in
            var lines: [String] = []
            for leaf in try connection.objects(Leaf.self) {
                lines.append(
                    "leaf \(leaf.key) \(leaf.title) \(leaf.image.count) \(leaf.parent?.key ?? -1) "
                        + "\(leaf.children.map(\.key)) \(leaf.pointers.map(\.key))")
            }
            for pointer in try connection.objects(Pointer.self) {
                lines.append(
                    "pointer \(pointer.key) \(pointer.number) \(pointer.image.count) \(pointer.leaf?.key ?? -1) "
                        + "\(pointer.other?.key ?? -1)")
            }
            for holder in try connection.objects(Holder.self) {
                lines.append("holder \(holder.key) \(holder.leaves.map(\.key)) \(Array(holder.numbers))")
            }
            for number in 0..<20 {
                lines.append(
                    "\(try connection.objects(Leaf.self).where(\.title == "\(number)").count) "
                        + "\(try connection.objects(Pointer.self).where(\.number == number).count)")
            }
            return lines
        }
    }

    /// Observers of all leaves, of some of them, and of pointers without a leaf, with the rows that their change sets
    /// lead to.
    private final class Watch {
        private let scheduler = ManualScheduler()
        private let connection: Connection
        private var tokens: [NotificationToken] = []
        private(set) var rows: [[Int]] = [[], [], []]
        private var calls = 0

        init(_ store: Store) throws {
            connection = try store.connect(on: .scheduler(scheduler))
            let leaves = try connection.objects(Leaf.self)
            try observe(leaves, 0) { $0.key }
            try observe(leaves.where((\Leaf.title).hasPrefix("1")).sorted(by: \.title), 1) { $0.key }
            try observe(connection.objects(Pointer.self).where(\.leaf == nil), 2) { $0.key }
            try scheduler.turn { self.calls == 3 }
        }

        private func observe<Object: StoredObject>(
            _ results: Results<Object>, _ place: Int, _ key: @escaping (Object) -> Int
        ) throws {
            let token = try results.observe { [unowned self] change in
                calls += 1
                switch change {
                case .initial(let objects): rows[place] = objects.map(key)
                case .update(let objects, let changes):
                    for index in changes.deletions.reversed() { rows[place].remove(at: index) }
                    for index in changes.insertions { rows[place].insert(key(objects[index]), at: index) }
                case .error(let error): Issue.record(error)
                }
            }
            tokens.append(token)
        }

        func expectRows(_ comment: Comment) throws {
            _ = try connection.refresh()
            let leaves = try connection.objects(Leaf.self)
            #expect(rows[0] == leaves.map(\.key), comment)
            #expect(
                rows[1] == leaves.where((\Leaf.title).hasPrefix("1")).sorted(by: \.title).map(\.key), comment)
            #expect(rows[2] == (try connection.objects(Pointer.self).where(\.leaf == nil).map(\.key)), comment)
        }
    }

    @Test("deleting all objects of a class equals deleting them one by one, also for observers", arguments: 0..<24)
    func all(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        var (random, again) = (SeededRandom(seed: seed), SeededRandom(seed: seed))
        let durability: Durability = round % 2 == 0 ? .memory : .relaxed
        let (once, oneByOne) = (
            try TestStore(Self.models, durability: durability), try TestStore(Self.models, durability: durability)
        )
        try Self.fill(once.store, &random, first: 0)
        try Self.fill(oneByOne.store, &again, first: 0)
        let watch = try Watch(once.store)
        for step in 1..<4 {
            let type = Self.models[random.below(3)]
            let (isCancelled, isFirst) = (random.oneIn(4), random.oneIn(2))
            _ = (again.below(3), again.oneIn(4), again.oneIn(2))
            struct Cancelled: Error {}
            func change(_ store: Store, _ delete: (Connection) throws -> Void) throws {
                do {
                    try store.write { connection in
                        // A leaf that is added first is deleted with all leaves.
                        let leaf = Leaf()
                        leaf.key = -step
                        leaf.image = Data(repeating: 9, count: 3_000)
                        if isFirst { try connection.add(leaf) }
                        try delete(connection)
                        if !isFirst { try connection.add(leaf) }
                        if isCancelled { throw Cancelled() }
                    }
                } catch is Cancelled {}
            }
            try change(once.store) { try $0.deleteAll(type) }
            try change(oneByOne.store) { connection in
                func delete<Object: StoredObject>(_: Object.Type) throws {
                    for object in Array(try connection.objects(Object.self)) { try connection.delete(object) }
                }
                switch type {
                case is Leaf.Type: try delete(Leaf.self)
                case is Pointer.Type: try delete(Pointer.self)
                default: try delete(Holder.self)
                }
            }
            #expect(try Self.content(once.store) == Self.content(oneByOne.store), comment)
            try watch.expectRows(comment)
            try Self.fill(once.store, &random, first: 1_000 * step)
            try Self.fill(oneByOne.store, &again, first: 1_000 * step)
            #expect(try Self.content(once.store) == Self.content(oneByOne.store), comment)
            try watch.expectRows(comment)
            #expect(try once.store.verify().isWhole, comment)
        }
    }

    @Test("deleting more objects than the log of one commit lists")
    func beyondTheLog() throws {
        let count = ChangeLog.maxEntriesPerCommit + 100
        let test = try TestStore(Self.models, durability: .memory)
        try test.store.write { connection in
            for key in 0..<count {
                let leaf = Leaf()
                leaf.key = key
                leaf.title = "\(key % 3)"
                try connection.add(leaf)
            }
        }
        let watch = try Watch(test.store)
        let held = try test.store.connect(on: .scheduler(ManualScheduler()))
        held.autorefresh = false
        #expect(try held.objects(Leaf.self).count == count)
        try test.store.write { try $0.deleteAll(Leaf.self) }
        try watch.expectRows("all deleted")
        #expect(watch.rows[0].isEmpty && watch.rows[1].isEmpty)
        // An older version keeps its rows.
        #expect(try held.objects(Leaf.self).count == count)
        #expect(try test.store.verify().isWhole)
    }

    @Test("a deleted object's links are nil, whatever else their rows hold", arguments: 0..<8)
    func links(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        var random = SeededRandom(seed: seed)
        let test = try TestStore(Self.models, durability: round % 2 == 0 ? .memory : .relaxed)
        for step in 0..<3 { try Self.fill(test.store, &random, first: 1_000 * step) }
        let watch = try Watch(test.store)
        for _ in 0..<4 {
            var expected: [Int: [Int?]] = [:]
            try test.store.write { connection in
                let leaf = try connection.objects(Leaf.self)[random.below(4)]
                let key = leaf.key
                for pointer in try connection.objects(Pointer.self) {
                    if random.oneIn(8) { pointer.number = 100 }
                    let links = [pointer.leaf?.key, pointer.other?.key].map { $0 == key ? nil : $0 }
                    expected[pointer.key] = links + [pointer.number, pointer.image.count]
                }
                try connection.delete(leaf)
            }
            try test.store.read { connection in
                for pointer in try connection.objects(Pointer.self) {
                    let found = [pointer.leaf?.key, pointer.other?.key, pointer.number, pointer.image.count]
                    #expect(found == expected[pointer.key], comment)
                }
            }
            try watch.expectRows(comment)
            #expect(try test.store.verify().isWhole, comment)
        }
    }
}
