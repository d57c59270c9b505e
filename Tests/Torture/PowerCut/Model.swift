// Models of a recording, and the changes of its commits. Seed, writer, step and the writer's earlier changes decide a
// change, so the store and the expected content receive the same ones.
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom

final class Entry: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var group = 0
    @Stored var text = ""
    @Linked var next: Entry?
    @Listed var others: List<Entry>
}

/// A class without links and lists, so that `deleteAll` does not delete its rows one by one.
final class Leaf: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var group = 0
    @Stored var text = ""
}

/// Values of an `Entry`.
struct Row: Equatable {
    var group: Int
    var text: String
    var next: Int?
    var others: [Int] = []
}

/// Values of a `Leaf`.
struct LeafValues: Equatable {
    var group: Int
    var text: String
}

/// One change of a commit. A writer changes entries with its own keys only, and deletes the leaves of all writers.
enum Change {
    case insert(Int, Row)
    case setGroup(Int, Int)
    case setText(Int, String)
    case link(Int, to: Int?)
    case append(Int, to: Int)
    case removeFirst(from: Int)
    case delete(Int)
    case insertLeaf(Int, LeafValues)
    case deleteAllLeaves
}

/// The entries and leaves of a store by their keys.
struct Content: Equatable {
    static let models: [StoredObject.Type] = [Entry.self, Leaf.self, Counter.self]
    static let groups = 7
    private static let keysPerWriter = 1_000_000

    var rows: [Int: Row] = [:]
    var leaves: [Int: LeafValues] = [:]

    /// Returns the changes of one step of a writer. `rows` must contain the effect of that writer's earlier steps.
    func changes(seed: UInt64, writer: Int, step: Int) -> [Change] {
        var random = SeededRandom(seed: seed ^ UInt64(writer) << 40 ^ UInt64(step) << 16)
        let first = writer * Self.keysPerWriter
        let own = rows.keys.filter { $0 / Self.keysPerWriter == writer }.sorted()
        func any() -> Int { own[random.below(own.count)] }
        let group = random.below(Self.groups)
        switch random.below(own.count < 4 ? 1 : 14) {
        case 0...2:
            let row = Row(group: group, text: Self.text(&random), next: own.isEmpty ? nil : any())
            return [.insert(first + step, row)]
        case 3, 4: return [.setGroup(any(), group)]
        case 5: return [.setText(any(), Self.text(&random)), .setGroup(any(), group)]
        case 6: return [.link(any(), to: random.below(3) == 0 ? nil : any())]
        case 7: return [.append(any(), to: any()), .append(any(), to: any())]
        case 8:
            let lists = own.filter { !rows[$0]!.others.isEmpty }
            return lists.isEmpty ? [.delete(any())] : [.removeFirst(from: lists[random.below(lists.count)])]
        case 9: return [.delete(any())]
        case 10...12:
            return (0..<20).map {
                .insertLeaf(first + step * 20 + $0, LeafValues(group: group, text: Self.text(&random)))
            }
        default: return [.deleteAllLeaves]
        }
    }

    /// Returns a text that is mostly short, and sometimes long enough for overflow pages.
    private static func text(_ random: inout SeededRandom) -> String {
        let length = [5, 40, 300, 3_000][min(3, random.below(20) / 6)]
        return String(repeating: Character(UnicodeScalar(UInt8(97 + random.below(26)))), count: length)
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .insert(let key, let row): rows[key] = row
        case .setGroup(let key, let group): rows[key]?.group = group
        case .setText(let key, let text): rows[key]?.text = text
        case .link(let key, let target): rows[key]?.next = target
        case .append(let element, let key): rows[key]?.others.append(element)
        case .removeFirst(let key): rows[key]?.others.removeFirst()
        case .delete(let gone):
            rows[gone] = nil
            for (key, row) in rows where row.next == gone || row.others.contains(gone) {
                if row.next == gone { rows[key]!.next = nil }
                rows[key]!.others.removeAll { $0 == gone }
            }
        case .insertLeaf(let key, let values): leaves[key] = values
        case .deleteAllLeaves: leaves = [:]
        }
    }

    static func apply(_ change: Change, _ connection: Connection) throws {
        func entry(_ key: Int) throws -> Entry {
            guard let entry = try connection.object(Entry.self, forPrimaryKey: key) else { throw Missing(key: key) }
            return entry
        }
        switch change {
        case .insert(let key, let row):
            let entry = Entry()
            (entry.key, entry.group, entry.text) = (key, row.group, row.text)
            try connection.add(entry)
            if let next = row.next { entry.next = try connection.object(Entry.self, forPrimaryKey: next) }
        case .setGroup(let key, let group): try entry(key).group = group
        case .setText(let key, let text): try entry(key).text = text
        case .link(let key, let target): try entry(key).next = target.map(entry)
        case .append(let element, let key): try entry(key).others.append(entry(element))
        case .removeFirst(let key): try entry(key).others.removeFirst()
        case .delete(let key): try connection.delete(entry(key))
        case .insertLeaf(let key, let values):
            let leaf = Leaf()
            (leaf.key, leaf.group, leaf.text) = (key, values.group, values.text)
            try connection.add(leaf)
        case .deleteAllLeaves: try connection.deleteAll(Leaf.self)
        }
    }

    struct Missing: Error {
        let key: Int
    }
}

/// Number of commits, incremented by each commit.
enum Total {
    private static let name = "commits"

    static func increment(_ connection: Connection) throws -> Int { try Batches.increment(name, connection) }
    static func count(_ connection: Connection) throws -> Int { try Batches.value(name, connection) }
}
