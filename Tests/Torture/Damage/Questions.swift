// The child's questions. It verifies, opens, reads and observes a store, and reads again after write steps. Properties
// of live objects are read last. Each answer is printed at once, so that a crash shows where it happened.
import Foundation
import StillingWell
import StillingWellFixtures

struct Questions {
    private let path: String
    private let kind: StoreKind

    init(_ path: String, _ kind: StoreKind) { (self.path, self.kind) = (path, kind) }

    func ask() {
        say("verify.closed") { describe(try Store.verify(path: path)) }
        var opened: Store?
        say("open") {
            opened = try Store(.init(path: path, models: kind.models, durability: .relaxed))
            return "ok"
        }
        if let store = opened {
            askAll("first", store)
            let observers = Observers(store, kind)
            say("observed") { try observers.begin() }
            if say("write one", { try write(1, store) }) {
                askAll("second", store)
                if say("write many", { try write(200, store) }) {
                    say("told") { try observers.wait() }
                    askAll("third", store)
                    // Rows that `writeSmall` does not change are also read if it fails.
                    if say("write 250", { try writeSmall(250, store) }) { askAll("fourth", store) }
                    askRest(store)
                } else {
                    askAll("second", store)
                }
            } else {
                askAll("first", store)
            }
            observers.end()
            say("verify.open") { describe(try store.verify()) }
            say("delete all") { try deleteAll(store) }
            askAll("last", store)
            say(Answers.liveBegun) { "ok" }
            say(Answers.live) { try live(store) }
            store.close()
        }
        print("end")
    }

    private func describe(_ report: FileReport) -> String {
        report.isWhole ? "whole" : "damaged: \(report.damage.prefix(3).joined(separator: "; "))"
    }

    /// - Returns: whether the answer is not an error.
    @discardableResult
    private func say(_ question: String, _ body: () throws -> String) -> Bool {
        let answer: String
        do { answer = try body() } catch { answer = "!" + "\(error)".replacing("\n", with: " ") }
        // `write` without a buffer, so that a crash loses no answer.
        let line = Array("\(question)\t\(answer)\n".utf8)
        _ = write(line)
        return !Answers.isError(answer)
    }

    private func write(_ bytes: [UInt8]) -> Bool { Glibc.write(1, bytes, bytes.count) == bytes.count }

    /// FNV-1a, a hash that is the same in every process.
    private static func sum(_ text: String) -> String {
        String(text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }

    private func askAll(_ when: String, _ store: Store) {
        func ask(_ question: String, _ body: (Connection) throws -> String) {
            say("\(when) \(question)") { Self.sum(try store.read(body)) }
        }
        switch kind {
        case .samples: ask("samples") { try Samples.lines($0).joined(separator: "\n") }
        case .many, .large, .lists, .free: askItems(ask)
        }
    }

    /// Reads properties of live objects, whose getters cannot throw.
    private func live(_ store: Store) throws -> String {
        let connection = try store.connect(on: .runLoop)
        switch kind {
        case .samples:
            return Self.sum(
                "\(try connection.objects(Sample.self).map { "\($0.number) \($0.text) \($0.words.count)" })")
        case .many, .large, .lists, .free:
            let items = try connection.objects(Item.self).map(describe)
            let folders = try connection.objects(Folder.self).map { "\($0.name) \($0.items.count) \($0.tags.count)" }
            return Self.sum("\(items) \(folders)")
        }
    }

    /// Reads rows that `writeSmall` does not change.
    private func askRest(_ store: Store) {
        guard [.many, .large, .lists, .free].contains(kind) else { return }
        say("rest") {
            Self.sum(
                try store.read { connection in
                    let items = try connection.objects(Item.self).where(\.key >= 20 && \.key < 6_000).map(describe)
                    let documents = try connection.objects(Document.self).where(\.title != "title 1").map {
                        "\($0.title) \($0.text) \($0.data?.hashed ?? "nil")"
                    }
                    let folders = try connection.objects(Folder.self).map { "\($0.name) \($0.items.map(\.key))" }
                    return "\(items) \(documents) \(folders)"
                })
        }
    }

    /// Makes commits that change one or two rows each.
    private func writeSmall(_ commits: Int, _ store: Store) throws -> String {
        for number in 0..<commits {
            try store.write { connection in
                switch kind {
                case .samples:
                    let sample = try connection.object(Sample.self, forPrimaryKey: "sample \(number % Samples.count)")
                    sample?.number = number
                case .many, .large, .lists, .free:
                    let item = try connection.object(Item.self, forPrimaryKey: number % 20)
                    item?.score = number
                    item?.group = number % 17
                    let line = Line()
                    line.text = "commit \(number)"
                    try connection.add(line)
                }
            }
        }
        return "ok"
    }

    private func describe(_ item: Item) -> String {
        "\(item.key) \(item.group) \(item.name) \(item.score) \(item.weight ?? -1) \(item.next?.key ?? -1)"
    }

    private func askItems(_ ask: (String, (Connection) throws -> String) -> Void) {
        ask("items") { try $0.objects(Item.self).map(describe).joined(separator: "\n") }
        ask("items sorted") { "\(try $0.objects(Item.self).sorted(by: \.score).map(\.key))" }
        ask("items scanned") { "\(try $0.objects(Item.self).where(\.score > 500).map(\.key))" }
        ask("items counted") { connection in
            let items = try connection.objects(Item.self)
            return "\(items.count) \(items.sum(\.score)) \(items.max(\.weight) ?? -1)"
        }
        ask("items sectioned") { connection in
            try connection.objects(Item.self).sectioned(by: \.group).map { "\($0.key) \($0.count)" }.joined()
        }
        ask("items by key") { connection in
            "\(try (0..<6_300).map { try connection.object(Item.self, forPrimaryKey: $0)?.score ?? -1 })"
        }
        ask("items by range of keys") { "\(try $0.objects(Item.self).where(\.key >= 20 && \.key < 60).map(\.score))" }
        ask("items by group") { connection in
            "\(try (0..<20).map { group in try connection.objects(Item.self).where(\.group == group).map(\.key) })"
        }
        ask("items by name") { connection in
            "\(try (0..<60).map { number in try connection.objects(Item.self).where((\Item.name).hasPrefix("item \(number) ")).map(\.key) })"
        }
        ask("items linked") { connection in
            "\(try (0..<200).map { try connection.object(Item.self, forPrimaryKey: $0)?.linkingObjects(\Item.next).map(\.key) ?? [] })"
        }
        ask("documents") { connection in
            try connection.objects(Document.self).map { "\($0.title) \($0.text) \($0.data?.hashed ?? "nil")" }.joined()
        }
        ask("documents by key") { connection in
            "\(try (0..<70).map { try connection.object(Document.self, forPrimaryKey: "title \($0)")?.text.count ?? -1 })"
        }
        ask("folders") { connection in
            try connection.objects(Folder.self).map {
                "\($0.name) \($0.items.map(\.key)) \(Array($0.tags)) \(Array($0.numbers))"
            }.joined(separator: "\n")
        }
        ask("folders by element") { connection in
            "\(try (0..<40).map { try connection.object(Item.self, forPrimaryKey: $0)?.linkingObjects(\Folder.items).map(\.name) ?? [] })"
        }
        ask("lines") { try $0.objects(Line.self).map(\.text).joined() }
    }

    /// Adds, changes and deletes rows in one commit.
    private func write(_ count: Int, _ store: Store) throws -> String {
        try store.write { connection in
            switch kind {
            case .samples: try writeSamples(count, connection)
            case .many, .large, .lists, .free: try writeItems(count, connection)
            }
        }
        return "ok"
    }

    /// Deletes all documents and lines, and adds a line. Does nothing to a store of samples.
    private func deleteAll(_ store: Store) throws -> String {
        guard kind != .samples else { return "ok" }
        try store.write { connection in
            try connection.deleteAll(Document.self)
            try connection.deleteAll(Line.self)
            let line = Line()
            line.text = "after deleteAll"
            try connection.add(line)
        }
        return "ok"
    }

    private func writeSamples(_ count: Int, _ connection: Connection) throws {
        for step in 0..<min(count, 60) {
            let number = SampleNumber()
            number.id = 100_000 + count * 1_000 + step
            try connection.add(number)
            let sample = try connection.object(Sample.self, forPrimaryKey: "sample \(step % Samples.count)")
            sample?.number += 1
            sample?.text = "written \(count) \(step)"
            sample?.words.append("written")
            number.sample = sample
        }
        if let last = try connection.object(SampleNumber.self, forPrimaryKey: count == 1 ? -5_000 : -4_000) {
            try connection.delete(last)
        }
    }

    private func writeItems(_ count: Int, _ connection: Connection) throws {
        for step in 0..<count {
            let item = Item()
            (item.key, item.group, item.name) = (6_000 + count + step, step % 17, "written \(step)")
            try connection.add(item)
            if let other = try connection.object(Item.self, forPrimaryKey: step * 3) {
                other.score += 1
                other.group = step % 17
                item.next = other
            }
        }
        for step in 0..<max(1, count / 8) {
            if let item = try connection.object(Item.self, forPrimaryKey: step * 8 + 1) { try connection.delete(item) }
        }
        let document = try connection.object(Document.self, forPrimaryKey: "title 1")
        document?.text += String(repeating: "written ", count: count * 100)
        let folder = try connection.object(Folder.self, forPrimaryKey: "folder 0")
        // Damage may have moved a list's elements elsewhere. An index without a check would end the process.
        folder?.tags.insert("written", at: min(1, folder?.tags.count ?? 0))
        folder?.numbers.append(count)
        if let folder, !folder.items.isEmpty { folder.items.remove(at: 0) }
        let line = Line()
        line.text = "written \(count)"
        try connection.add(line)
    }
}

extension Data {
    fileprivate var hashed: String { "\(count) \(reduce(0) { ($0 &* 31 &+ Int($1)) & 0xff_ffff })" }
}
