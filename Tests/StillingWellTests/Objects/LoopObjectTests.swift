// Tests of loops, which may reuse an object for a later row.
import StillingWell
import Testing

private final class Looped: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
}

private final class Marked: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Transient var isMarked = false
}

@Suite("Objects of a loop")
struct LoopObjectTests {
    private let test: TestStore

    init() throws {
        test = try TestStore([Looped.self, Marked.self], durability: .memory)
        try test.store.write { connection in
            for id in 0..<200 {
                let looped = Looped()
                (looped.id, looped.title) = (id, "title \(id)")
                try connection.add(looped)
                let marked = Marked()
                marked.id = id
                try connection.add(marked)
            }
        }
    }

    @Test("retained objects of a loop keep their rows")
    func kept() throws {
        try test.store.read { connection in
            for sort in [false, true] {
                let all = try connection.objects(Looped.self)
                let results = sort ? all.sorted(by: \.title) : all
                var some: [Looped] = []
                for (place, looped) in results.enumerated() where place % 3 == 0 { some.append(looped) }
                let ids = results.map(\.id)
                #expect(some.map(\.id) == stride(from: 0, to: 200, by: 3).map { ids[$0] })
                #expect(some.allSatisfy { $0.title == "title \($0.id)" })
                #expect(Set(some.map(ObjectIdentifier.init)).count == some.count)
            }
        }
    }

    @Test("a weak reference to an object is nil or reads its row")
    func weaklyKept() throws {
        final class Reference { weak var object: Looped? }
        try test.store.read { connection in
            var references: [(Reference, Int)] = []
            for looped in try connection.objects(Looped.self) {
                let reference = Reference()
                reference.object = looped
                references.append((reference, looped.id))
                for (reference, id) in references { #expect(reference.object.map { $0.id == id } ?? true) }
            }
            #expect(references.count == 200)
        }
    }

    @Test("each object of a loop has its own values of properties that are not stored")
    func unstored() throws {
        try test.store.read { connection in
            for marked in try connection.objects(Marked.self) {
                #expect(!marked.isMarked)
                marked.isMarked = true
            }
        }
    }

    @Test("read the writes of the loop; a deleted object reads as deleted")
    func written() throws {
        try test.store.write { connection in
            for looped in try connection.objects(Looped.self) where looped.id % 2 == 0 {
                looped.title = "new \(looped.id)"
                #expect(looped.title == "new \(looped.id)")
                if looped.id % 4 == 0 {
                    try connection.delete(looped)
                    #expect(looped.isInvalidated)
                }
            }
        }
        try test.store.read { connection in
            let all = try connection.objects(Looped.self)
            #expect(all.count == 150)
            #expect(all.allSatisfy { $0.title == ($0.id % 2 == 0 ? "new" : "title") + " \($0.id)" })
        }
    }

    @Test("a loop visits the rows of its start, whatever is delivered meanwhile")
    func oneVersion() throws {
        let live = try test.store.connect(on: .scheduler(ManualScheduler()))
        var count = 0
        for looped in try live.objects(Looped.self) {
            let id = count
            count += 1
            #expect(looped.isInvalidated == (id % 50 == 1))
            #expect(looped.title == (id % 50 == 1 ? "" : "title \(id)"))
            guard id % 50 == 0 else { continue }
            try test.store.write { connection in
                try connection.delete(try #require(try connection.object(Looped.self, forPrimaryKey: id + 1)))
            }
            while try live.refresh() {}
            #expect(looped.title == "title \(id)")
        }
        #expect(count == 200)
    }
}
