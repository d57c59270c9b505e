// Rule 20 with links, lists and indexes.
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

private enum Linked1 {
    final class Owner: StoredObject {
        @Stored var name = ""
        @Listed var dogs: List<Dog>
        @Listed var tags: List<String>
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Linked var owner: Owner?
        @Stored var age = 0
    }
}

/// `tags` holds numbers.
private enum Linked4 {
    final class Owner: StoredObject {
        @Stored var name = ""
        @Listed var dogs: List<Dog>
        @Listed var tags: List<Int>
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Linked var owner: Owner?
        @Stored var age = 0
    }
}

private enum Indexed {
    final class Counter: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored(.indexed) var value = 0
    }
}
@Suite("Rule 20: links and indexes through versions", .serialized, .onThreads)
struct Rule20SchemaLinkTests {
    @Test("a list of something else needs a block, and begins empty; the old one can be gone through")
    func otherList() throws {
        let file = SchemaFile()
        try file.open(Linked1.Owner.self, Linked1.Dog.self).write { connection in
            let ada = Linked1.Owner()
            ada.tags.append(contentsOf: ["1", "2"])
            try connection.add(ada)
        }
        let text = refusal { _ = try file.open(Linked4.Owner.self, Linked4.Dog.self, version: 1) }
        #expect(text.contains("the list 'tags' holds 'value' (string)"), "\(text)")
        let seen = Watched<[String]>([])
        let store = try file.open(Linked4.Owner.self, Linked4.Dog.self, version: 1) { migration in
            try migration.enumerate("Owner.tags") { old, _ in
                seen.update { $0.append(old["value"] as? String ?? "") }
            }
        }
        #expect(seen.value == ["1", "2"])
        try store.write { connection in
            let owner = try #require(try connection.objects(Linked4.Owner.self).first)
            #expect(owner.tags.isEmpty)
            owner.tags.append(5)
        }
        #expect(try store.read { try $0.objects(Linked4.Owner.self).first?.tags.map { $0 } } == [5])
    }

    @Test("a new index is refused while another process, which would not keep it, has the store open")
    func newIndexElsewhere() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let other = try FixtureProcess(path: path, .relaxed, ["observe"])
        try other.waitUntilReady()
        let configuration = Store.Configuration(path: path, models: [Indexed.Counter.self], durability: .relaxed)
        #expect(refusal { _ = try Store(configuration) }.contains("'Counter.value' is new, with a link or an index"))
        try other.killNow()
        _ = try Store(configuration)
    }
}
