// Tests of verification and of salvaging.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Verify and salvage", .timeLimit(.minutes(10)))
struct VerifyTests {
    private static let models: [StoredObject.Type] = [Human.self, Dog.self, LogLine.self]

    /// Content of a store as text: its objects, and what an index and the primary keys find.
    private static func content(_ store: Store) throws -> [String: String] {
        try store.read { connection in
            var all: [String: String] = [:]
            for human in try connection.objects(Human.self) {
                all["human \(human.id)"] = """
                    \(human.name) \(human.age) \(human.boss?.id ?? -1) \(human.friends.map(\.id)) \(Array(human.tags)) \
                    \(human.scores.map { $0 ?? -1 })
                    """
            }
            for dog in try connection.objects(Dog.self) {
                all["dog \(dog.id)"] = "\(dog.breed ?? "-") \(dog.owner?.id ?? -1)"
            }
            for line in try connection.objects(LogLine.self) { all["line \(line.text.prefix(12))"] = line.text }
            for name in 0..<5 {
                all["index \(name)"] =
                    "\(try connection.objects(Human.self).where(\.name == "n\(name)").map(\.id).sorted())"
            }
            for id in 0..<400 {
                all["key \(id)"] = "\(try connection.object(Human.self, forPrimaryKey: id)?.name ?? "none")"
            }
            return all
        }
    }

    private static func change(_ store: Store, _ random: inout SeededRandom, _ number: inout Int) throws {
        try store.write { connection in
            for _ in 0..<random.below(40) + 1 {
                number += 1
                switch random.below(7) {
                case 0:
                    let human = Human(number, "n\(number % 5)", age: number)
                    try connection.add(human)
                    for tag in 0..<random.below(4) { human.tags.append("tag \(tag)") }
                case 1:
                    let owner = try connection.objects(Human.self).first
                    let breed = random.below(3) == 0 ? nil : "breed \(number % 3)"
                    try connection.add(Dog(number, owner: owner, breed: breed))
                case 2:
                    let line = LogLine()
                    line.text = "\(number) " + String(repeating: "x", count: random.below(9_000))
                    try connection.add(line)
                case 3:
                    let humans = try connection.objects(Human.self)
                    guard humans.count > 1 else { continue }
                    let human = humans[random.below(humans.count)]
                    human.boss = humans[random.below(humans.count)]
                    human.friends.append(humans[random.below(humans.count)])
                case 4:
                    let dogs = try connection.objects(Dog.self)
                    if dogs.count > 3 { try connection.delete(dogs[random.below(dogs.count)]) }
                case 5:
                    // Most texts are long enough to be stored apart from their rows.
                    let lines = try connection.objects(LogLine.self)
                    if lines.count > 3 { try connection.delete(lines[random.below(lines.count)]) }
                default:
                    let humans = try connection.objects(Human.self)
                    if humans.count > 9, random.below(3) == 0 {
                        try connection.delete(humans[random.below(humans.count)])
                    }
                }
            }
        }
    }

    /// Makes a closed store. Returns its folder and content.
    private static func makeFile(_ seed: UInt64, commits: Int) throws -> (path: String, content: [String: String]) {
        var random = SeededRandom(seed: seed)
        var number = 0
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        let store = try Store(.init(path: path, models: models, durability: .relaxed))
        defer { store.close() }
        for _ in 0..<commits { try change(store, &random, &number) }
        return (path, try content(store))
    }

    @Test(
        "an open store is whole after every commit, in every durability",
        arguments: [Durability.full, .relaxed, .memory])
    func openStore(_ durability: Durability) throws {
        let test = try TestStore(Self.models, durability: durability)
        defer { withExtendedLifetime(test) {} }
        let seed = SeededRandom.base
        var random = SeededRandom(seed: seed)
        var number = 0
        for _ in 0..<20 {
            try Self.change(test.store, &random, &number)
            let report = try test.store.verify()
            #expect(report.isWhole, "TIDEGAUGE_SEED=\(seed): \(report.damage)")
            #expect(
                report.tables.first { $0.name == "Human" }?.wholeObjects
                    == (try test.store.read { try $0.objects(Human.self).count }))
        }
    }

    @Test("a large value that became smaller in the block that made it is whole")
    func shrunk() throws {
        let test = try TestStore(Self.models)
        try test.store.write { connection in
            let line = LogLine()
            line.text = String(repeating: "x", count: 40_000)
            try connection.add(line)
            // Stores the object.
            _ = try connection.objects(LogLine.self).count
            line.text = String(repeating: "y", count: 9_000)
        }
        let report = try test.store.verify()
        #expect(report.isWhole, "\(report.damage)")
        #expect(try test.store.read { try $0.objects(LogLine.self).first?.text.utf8.count } == 9_000)
    }

    @Test("a store that is open, and a folder without one, are refused")
    func refusals() throws {
        let test = try TestStore(Self.models)
        #expect(throws: StoreError.self) { try Store.verify(path: test.path) }
        #expect(throws: StoreError.self) { try Store.verify(path: test.path + "-none") }
        #expect(!FileManager.default.fileExists(atPath: test.path + "-none"))
        #expect(throws: StoreError.self) { try Store.salvage(path: test.path, to: test.path + "/new") }
        test.store.close()
        #expect(throws: StoreError.self) { try test.store.verify() }
    }

    private enum Damage: CaseIterable { case bit, byte, sector, page, swap, cut }

    private static func damage(_ data: inout Data, _ random: inout SeededRandom) -> (text: String, page: Int) {
        let pageBytes = 4_096
        let pages = data.count / pageBytes
        let kind = Damage.allCases[random.below(Damage.allCases.count)]
        let page = random.below(pages)
        switch kind {
        case .bit: data[page * pageBytes + random.below(pageBytes)] ^= 1 << UInt8(random.below(8))
        case .byte: data[page * pageBytes + random.below(pageBytes)] = UInt8(random.below(256))
        case .sector:
            let start = page * pageBytes + 512 * random.below(8)
            data.replaceSubrange(start..<start + 512, with: Data(count: 512))
        case .page: data.replaceSubrange(page * pageBytes..<(page + 1) * pageBytes, with: Data(count: pageBytes))
        case .swap:
            let other = random.below(pages)
            let bytes = data.subdata(in: other * pageBytes..<(other + 1) * pageBytes)
            data.replaceSubrange(page * pageBytes..<(page + 1) * pageBytes, with: bytes)
        case .cut: data = data.prefix(page * pageBytes + random.below(pageBytes))
        }
        return ("\(kind) at page \(page)", page)
    }

    @Test("whole objects read as they were stored, and whole ones of a damaged store are recovered")
    func damaged() throws {
        let seed = SeededRandom.base
        let (path, content) = try Self.makeFile(seed, commits: 40)
        let folder = path + "-copy"
        defer { for path in [path, folder] { try? FileManager.default.removeItem(atPath: path) } }
        let original = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
        #expect(try Store.verify(path: path).isWhole)
        var whole = 0
        let rounds = repetitions(300, atEveryCommit: 120)
        for round in 0..<rounds {
            var random = SeededRandom(seed: seed &+ 1 &+ UInt64(round))
            var data = original
            let damage = Self.damage(&data, &random)
            let comment: Comment = "TIDEGAUGE_SEED=\(seed), round \(round): \(damage.text)"
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try data.write(to: URL(fileURLWithPath: folder + "/data.mdb"))
            guard let report = try? Store.verify(path: folder) else { continue }
            if report.isWhole {
                whole += 1
                let store = try Store(.init(path: folder, models: Self.models, durability: .relaxed))
                #expect(try Self.content(store) == content, comment)
                store.close()
                continue
            }
            guard (try? Store.salvage(path: folder, to: folder + "/new")) != nil else { continue }
            let salvaged = try Store.verify(path: folder + "/new")
            #expect(salvaged.isWhole, "\(comment): \(salvaged.damage)")
            let store = try Store(.init(path: folder + "/new", models: Self.models, durability: .relaxed))
            for (name, text) in try Self.content(store) where name.hasPrefix("line") {
                // Without the newest header, the previous version is read. It may have a line that was deleted since.
                #expect(content[name] == text || content[name] == nil && damage.page < 2, comment)
            }
            let kept = try store.read { try $0.objects(LogLine.self).count }
            #expect(kept == report.tables.first { $0.name == "LogLine" }?.wholeObjects, comment)
            store.close()
        }
        #expect(whole > 0 && whole < rounds - rounds / 30)
    }

    @Test("if the new store cannot be made there is none, and the old one stays")
    func salvageElsewhere() throws {
        let (path, _) = try Self.makeFile(SeededRandom.base, commits: 3)
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A folder is at the path of the engine's lock file.
        let folder = path + "/new"
        try FileManager.default.createDirectory(atPath: folder + "/lock.mdb", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try Store.salvage(path: path, to: folder) }
        #expect(!FileManager.default.fileExists(atPath: folder + "/data.mdb"))
        #expect(try Store.verify(path: path).isWhole)
    }

    @Test("a file with a changed key of a branch is damaged, or reads as it was stored")
    func branchKeys() throws {
        let seed = SeededRandom.base
        var random = SeededRandom(seed: seed)
        let (path, content) = try Self.makeFile(seed, commits: 60)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let url = URL(fileURLWithPath: path + "/data.mdb")
        let original = try Data(contentsOf: url)
        func number(_ offset: Int) -> Int { Int(original[offset]) | Int(original[offset + 1]) << 8 }
        var damaged = 0
        for page in stride(from: 2 * 4_096, to: original.count, by: 4_096) where number(page + 10) == 1 {
            for place in stride(from: 18, to: min(number(page + 12), 4_096), by: 2) {
                let entry = number(page + place)
                guard entry <= 4_088, case let count = number(page + entry + 6), count > 0, entry + count <= 4_088
                else {
                    continue
                }
                var data = original
                data[page + entry + 8 + random.below(count)] ^= 1 << UInt8(random.below(8))
                try data.write(to: url)
                guard try Store.verify(path: path).isWhole else {
                    damaged += 1
                    continue
                }
                let store = try Store(.init(path: path, models: Self.models, durability: .relaxed))
                #expect(try Self.content(store) == content, "TIDEGAUGE_SEED=\(seed): page \(page / 4_096) at \(place)")
                store.close()
            }
        }
        #expect(damaged > 0)
    }

    @Test("a schema that has changed is refused, and told")
    func schema() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.makePair(path)
        try DamagedFile.replace("\"name\":\"age\"", by: "\"name\":\"agf\"", in: path)
        #expect(try Store.verify(path: path).damage == ["the schema is not what was stored"])
        // Without a schema the meaning of the rows is unknown.
        #expect(throws: StoreError.self) { try Store.salvage(path: path, to: path + "/new") }
        do {
            _ = try Store(.init(path: path, models: Self.models, durability: .relaxed))
            Issue.record("it was opened")
        } catch StoreError.cannotOpen(_, let reason) {
            #expect(reason.contains("its schema is not what was stored"))
        }
    }

    @Test("a file that is truncated while it is open is an error of its reader and does not end the process")
    func cutWhileOpen() throws {
        let seed = SeededRandom.base
        for round in 0..<20 {
            var random = SeededRandom(seed: seed &+ UInt64(round))
            let comment: Comment = "TIDEGAUGE_SEED=\(seed), round \(round)"
            let (made, known) = try Self.makeFile(seed, commits: 30)
            // Every second store was made by this process and not opened again.
            let path = round % 2 == 0 ? made : made + "-new"
            defer { for path in [made, path] { try? FileManager.default.removeItem(atPath: path) } }
            let store = try Store(.init(path: path, models: Self.models, durability: .relaxed))
            var number = 0
            if path != made { for _ in 0..<30 { try Self.change(store, &random, &number) } }
            let content = path == made ? known : try Self.content(store)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
            let pages = Int(try file.seekToEnd()) / 4_096
            try file.truncate(atOffset: UInt64(4_096 * (2 + random.below(pages - 2))))
            try file.close()
            var read: [String: String]?
            do { read = try Self.content(store) } catch let error as StoreError { #expect(error.isOfFile, comment) }
            // The removed part may have been free.
            if let read { #expect(read == content, comment) } else { #expect(try !store.verify().isWhole, comment) }
            do { try store.write { try $0.add(Human(100_000, "late")) } } catch is StoreError {}
            store.close()
        }
    }

    @Test("a file that lost its end after it was read has no values of zeros", arguments: 1..<8)
    func cutBehindWhatWasRead(_ lostPages: Int) throws {
        let test = try TestStore(Self.models)
        let text = String(repeating: "x", count: 9_000)
        try test.store.write { connection in
            let line = LogLine()
            line.text = text
            try connection.add(line)
        }
        func read() throws -> String? { try test.store.read { try $0.objects(LogLine.self).first?.text } }
        #expect(try read() == text)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: test.path + "/data.mdb"))
        defer { try? file.close() }
        let end = try file.seekToEnd()
        try file.truncate(atOffset: end - 4_096 * UInt64(lostPages))
        do {
            #expect(try read() == text)
        } catch let error as StoreError {
            #expect(error.isOfFile)
            #expect(throws: StoreError.self) { try test.store.write { try $0.add(LogLine()) } }
        }
    }

    /// Makes a store of two humans and closes it.
    private static func makePair(_ path: String) throws {
        let store = try Store(.init(path: path, models: models, durability: .relaxed))
        try store.write { connection in
            let (first, second) = (Human(1, "whole-marker"), Human(2, "other-marker"))
            try connection.add(first)
            try connection.add(second)
            first.boss = second
            first.friends.append(second)
            first.friends.append(first)
        }
    }

    @Test("the whole one of two objects is recovered, without its link to the damaged one")
    func salvage() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.makePair(path)
        try DamagedFile.replace("other-marker", by: "other-marxer", in: path)
        let report = try Store.salvage(path: path, to: path + "/new")
        #expect(report.tables.first { $0.name == "Human" }?.damagedObjects.count == 1)
        #expect(try Store.verify(path: path + "/new").isWhole)
        let new = try Store(.init(path: path + "/new", models: Self.models, durability: .relaxed))
        try new.read { connection in
            let human = try connection.objects(Human.self).first
            #expect(human?.name == "whole-marker" && human?.boss == nil)
            #expect(human?.friends.map(\.id) == [1])
            #expect(try connection.objects(Human.self).count == 1)
        }
        // New objects get unused numbers.
        try new.write { try $0.add(Human(2, "new")) }
        #expect(try new.verify().isWhole)
        new.close()
    }
}
