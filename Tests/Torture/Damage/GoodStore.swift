// Undamaged stores, made once per run.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom

enum StoreKind: String, CaseIterable, Sendable {
    /// The samples of the fixtures.
    case samples
    /// Many rows, so that B-trees have branch pages with many entries.
    case many
    /// Values in overflow pages.
    case large
    /// Lists, links and several tables.
    case lists
    /// A long list of free pages.
    case free

    var models: [StoredObject.Type] {
        switch self {
        case .samples: Samples.models
        case .many, .large, .lists, .free: [Item.self, Document.self, Folder.self, Line.self]
        }
    }
}

/// A closed store: its file, and its file as it was some commits earlier.
struct GoodStore: Sendable {
    let kind: StoreKind
    let data: Data
    let earlier: Data
    /// Answers of a child that opens the undamaged store.
    var answers = Answers()

    /// Content of `durable.mdb`, the record of the last flush.
    let durable: Data
    let trees: TreePages

    static let dataName = "data.mdb"
    static let durableName = "durable.mdb"

    /// Makes a store in `folder`, which must be empty.
    init(_ kind: StoreKind, in folder: String, seed: UInt64) throws {
        self.kind = kind
        let file = URL(fileURLWithPath: "\(folder)/\(Self.dataName)")
        var random = SeededRandom(seed: seed)
        var earlier = Data()
        do {
            let store = try Store(.init(path: folder, models: kind.models, durability: .relaxed))
            defer { store.close() }
            switch kind {
            case .samples:
                try Samples.fill(store)
                earlier = try Data(contentsOf: file)
                for number in 0..<20 {
                    try store.write { connection in
                        let sample = try connection.object(Sample.self, forPrimaryKey: "sample \(number % 7)")
                        sample?.number = number
                        sample?.ratio = Double(number)
                    }
                }
            case .many, .large, .lists, .free:
                earlier = try Self.fill(store, kind, file, &random)
            }
        }
        self.earlier = earlier
        data = try Data(contentsOf: file)
        durable = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(Self.durableName)"))
        trees = TreePages(data)
    }

    /// - Returns: the file as it was four commits before the end of the rounds.
    private static func fill(
        _ store: Store, _ kind: StoreKind, _ file: URL, _ random: inout SeededRandom
    ) throws -> Data {
        var earlier = Data()
        let (rows, texts, lists, rounds) =
            switch kind {
            case .many: (6_000, 3, 1, 20)
            case .large: (40, 60, 1, 20)
            case .lists: (300, 3, 12, 30)
            case .samples, .free: (1_500, 20, 3, 60)
            }
        try store.write { try insert(rows, texts, lists, $0, &random) }
        // Commits list the pages that they freed. Snapshots that are held meanwhile make many such entries.
        var held: [FrozenResults<Item>] = []
        for round in 0..<rounds {
            if kind == .free, round % 10 == 0 { held.append(try store.read { try $0.objects(Item.self).freeze() }) }
            if round == rounds - 4 { earlier = try Data(contentsOf: file) }
            try store.write { try change(rows, texts, lists, round, $0, &random) }
        }
        held.removeAll()
        if kind == .free {
            try store.write { connection in
                for key in stride(from: 0, to: rows, by: 2) {
                    if let item = try connection.object(Item.self, forPrimaryKey: key) { try connection.delete(item) }
                }
            }
        }
        return earlier
    }

    private static func insert(
        _ rows: Int, _ texts: Int, _ lists: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        var last: Item?
        for key in 0..<rows {
            let item = Item()
            (item.key, item.group, item.score) = (key, key % 17, random.below(1_000))
            item.name = "item \(key % 50) " + String(repeating: "n", count: random.below(30))
            item.weight = key % 3 == 0 ? nil : Double(key) / 8
            try connection.add(item)
            if key % 4 == 0 { item.next = last }
            last = item
        }
        for number in 0..<texts {
            let document = Document()
            document.title = "title \(number)"
            document.text = String(repeating: "text \(number) ", count: random.below(1_500))
            document.data = Data(repeating: UInt8(number), count: random.below(40_000))
            try connection.add(document)
        }
        for number in 0..<lists {
            let folder = Folder()
            folder.name = "folder \(number)"
            try connection.add(folder)
            for step in 0..<40 {
                if let item = try connection.object(Item.self, forPrimaryKey: (step * 7 + number) % rows) {
                    folder.items.append(item)
                }
                folder.tags.append("tag \(step)")
                folder.numbers.append(step * number)
            }
        }
        for number in 0..<20 {
            let line = Line()
            line.text = "line \(number)"
            try connection.add(line)
        }
    }

    private static func change(
        _ rows: Int, _ texts: Int, _ lists: Int, _ round: Int, _ connection: Connection, _ random: inout SeededRandom
    ) throws {
        for _ in 0..<20 {
            let item = try connection.object(Item.self, forPrimaryKey: random.below(rows))
            item?.score = round * 1_000 + random.below(1_000)
            if round % 3 == 0 { item?.group = random.below(17) }
            if round % 5 == 0 { item?.name = "changed \(random.below(50))" }
        }
        let document = try connection.object(Document.self, forPrimaryKey: "title \(random.below(texts))")
        document?.text = String(repeating: "round \(round) ", count: random.below(3_000))
        let folder = try connection.object(Folder.self, forPrimaryKey: "folder \(random.below(lists))")
        if let folder, folder.tags.count > 2 {
            folder.tags.move(from: 0, to: 1)
            folder.tags.append("round \(round)")
            folder.items.remove(at: random.below(folder.items.count))
        }
    }
}
