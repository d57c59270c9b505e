// Rule 20 where models have links, lists and indexes: what is kept beside the rows has to follow them through every version.
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell
@testable import StillingWellEngine

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

/// Another order; `owner` is `master`, and `tags` are `labels`.
private enum Linked2 {
    final class Owner: StoredObject {
        @Listed var labels: List<String>
        @Listed var dogs: List<Dog>
        @Stored var name = ""
    }
    final class Dog: StoredObject {
        @Stored var age = 0
        @Linked var master: Owner?
        @Stored var color = ""
        @Stored var name = ""
    }
}

/// Without links and lists.
private enum Linked3 {
    final class Owner: StoredObject {
        @Stored var name = ""
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Stored var age = 0
    }
}

/// `tags` are numbers.
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
    @Test("links and lists survive another order, a new name and being hidden, and lead back all the while")
    func links() throws {
        let file = SchemaFile()
        try file.open(Linked1.Owner.self, Linked1.Dog.self).write { connection in
            let ada = Linked1.Owner()
            let rex = Linked1.Dog()
            (ada.name, rex.name, rex.owner, rex.age) = ("Ada", "Rex", ada, 3)
            let pup = Linked1.Dog()
            (pup.name, pup.owner) = ("Pup", ada)
            ada.dogs.append(contentsOf: [pup, rex, pup])
            ada.tags.append(contentsOf: ["a", "b"])
            try connection.add(ada)
            try connection.add(rex)
        }
        func check(_ store: Store, dogs: [String]) throws {
            try store.read { connection in
                let found = try connection.objects(Linked2.Dog.self)
                #expect(found.where(\.master?.name == "Ada").map(\.name).sorted() == ["Pup", "Rex"])
                #expect(found.where(\.master?.name == "Bob").isEmpty)
                let owners = try connection.objects(Linked2.Owner.self)
                #expect(owners.where(.any(\.dogs, \.age > 2)).count == (dogs.contains("Rex") ? 1 : 0))
                #expect(owners.where((\Linked2.Owner.dogs).sum(\.age) >= 3).count == 1)
                let ada = try #require(owners.first)
                #expect(ada.dogs.map(\.name) == dogs)
                #expect(ada.labels.map { $0 } == ["a", "b"])
                #expect(try ada.linkingObjects(\Linked2.Dog.master).map(\.name).sorted() == ["Pup", "Rex"])
                #expect(try #require(found.where(\.name == "Rex").first).linkingObjects(\Linked2.Owner.dogs).count == 1)
            }
        }
        do {
            let renamed = try file.open(Linked2.Owner.self, Linked2.Dog.self, version: 1) { migration in
                try migration.renameProperty(on: "Dog", from: "owner", to: "master")
                try migration.renameProperty(on: "Owner", from: "tags", to: "labels")
                try migration.enumerate("Dog") { _, new in if new["name"] as? String == "Pup" { new["age"] = 1 } }
            }
            try check(renamed, dogs: ["Pup", "Rex", "Pup"])
        }
        // Hidden, links are kept true: what is deleted meanwhile is gone from lists and links.
        do {
            let hidden = try file.open(Linked3.Owner.self, Linked3.Dog.self, version: 2)
            try hidden.write { connection in
                let pup = try #require(try connection.objects(Linked3.Dog.self).where(\.name == "Pup").first)
                try connection.delete(pup)
                let next = Linked3.Dog()
                next.name = "Pup"
                try connection.add(next)
            }
        }
        let again = try file.open(Linked2.Owner.self, Linked2.Dog.self, version: 3)
        try again.write { connection in
            #expect(try connection.objects(Linked2.Owner.self).first?.dogs.map(\.name) == ["Rex"])
            let dogs = try connection.objects(Linked2.Dog.self)
            let pup = try #require(dogs.where(\.name == "Pup").first)
            #expect(pup.master == nil && dogs.where(\.master != nil).map(\.name) == ["Rex"])
            pup.master = try connection.objects(Linked2.Owner.self).first
        }
        try check(again, dogs: ["Rex"])
    }

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

    @Test("a new link or index is refused while another process, which would not keep it, has the store open")
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
