import Foundation
import Testing

@testable import StillingWell

@Suite("Warnings and messages of a program")
struct MannersTests {
    private let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"

    /// Returns all lines that the fixture prints.
    private func said(_ arguments: String...) async throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, arguments)
        return try await process.output.reached("its end") { $0.isOver }.lines
    }

    // MARK: A delivery context that never runs

    @Test("a delivery context that has run nothing for five seconds is logged once, by name")
    func unserved() throws {
        let scheduler = ManualScheduler()
        let connection = ConnectedMailbox(Mailbox(scheduler))
        var places = UnservedPlaces(nowNs: 0)
        func look(_ seconds: Int64) -> [String] { places.look([connection], nowNs: seconds * 1_000_000_000) }
        #expect(look(100).isEmpty, "nothing waits there")
        connection.mailbox.request(.sweep(.store))
        for second in 101..<105 { #expect(look(Int64(second)).isEmpty) }
        // Half a second later is too soon for the next check.
        #expect(places.look([connection], nowNs: 104_500_000_000).isEmpty)
        let messages = look(105)
        #expect(messages.count == 1 && messages[0].contains("on a test") && messages[0].contains("run loop"))
        #expect(look(200).isEmpty)
    }

    @Test("a context that has run once is not logged; after a pause of the whole process none is")
    func served() throws {
        let scheduler = ManualScheduler()
        let connection = ConnectedMailbox(Mailbox(scheduler))
        var places = UnservedPlaces(nowNs: 0)
        connection.mailbox.request(.sweep(.store))
        // Ten minutes between two checks count as two seconds.
        #expect(places.look([connection], nowNs: 600_000_000_000).isEmpty)
        _ = connection.mailbox.take(minimum: 0)
        connection.mailbox.request(.sweep(.store))
        for second in 601..<700 {
            #expect(places.look([connection], nowNs: Int64(second) * 1_000_000_000).isEmpty)
        }
    }

    @Test("a message names the thread of a run loop that is not run, once")
    func idleRunLoop() async throws {
        let lines = try await said("unserved")
        #expect(lines.last == "a minute has passed")
        let warnings = lines.filter { $0.contains("run loop of idle has waited for 5 s") }
        #expect(warnings.count == 1, "\(lines)")
    }

    @Test("a message reports a queue without a thread: upkeep continues, and delivers once there is one")
    func noWorker() async throws {
        let lines = try await said("workerless")
        try #require(lines.count == 3, "\(lines)")
        #expect(
            lines[0].contains("the first delivery on queue 'feed' waits") && lines[0].contains("ulimit -u"),
            "\(lines[0])")
        #expect(lines[1] == "the run loop is told" && lines[2].hasPrefix("told of "), "\(lines)")
    }

    // MARK: A property without a wrapper

    private final class Sketch: StoredObject {
        @Stored(.primaryKey) var key = 0
        @Linked var other: Sketch?
        @Listed var names: List<String>
        @LinkingObjects(\Sketch.other) var others: Backlinks<Sketch>
        @Transient var isOpen = false
        lazy var title = "sketch \(key)"
        var draft = ""
        let made = 0
    }

    @Test("properties without a wrapper are found, except lazy ones")
    func unstored() throws {
        #expect(ModelLayout.of(Sketch.self).unstored == ["draft", "made"])
        #expect(ModelLayout.of(Note.self).unstored.isEmpty)
        let test = try TestStore([Sketch.self])
        let sketch = Sketch()
        sketch.isOpen = true
        try test.store.write { connection in
            try connection.add(sketch)
            let read = try #require(try connection.object(Sketch.self, forPrimaryKey: 0))
            #expect(sketch.isOpen && !read.isOpen)
        }
    }

    @Test("a message names the class and its properties when a store is opened, once")
    func unmarked() async throws {
        let lines = try await said("unmarked")
        #expect(lines.count == 1 && lines[0].contains("Shelf.draft, Shelf.made will not be stored"), "\(lines)")
        #expect(lines.first?.contains("@Stored") == true && lines.first?.contains("@Transient") == true)
    }

    // MARK: An index that there is not

    @Test(
        "the message of an index out of range says what exists",
        arguments: [
            (
                "outsideResults",
                "index 0 is outside of the objects of these results of Half, of which there are none now"
            ),
            (
                "outsideFrozen",
                "index 3 is outside of the objects of these frozen results of Half, of which there is 1 now (0)"
            ),
            ("outsideList", "index 2 is outside of the elements of Shelf.names, of which there are 2 now (0 to 1)"),
            (
                "insertOutside",
                "index 3 is outside of the places to insert at in Shelf.names, of which there are 3 now (0 to 2)"
            ),
            (
                "outsidePlainList",
                "index 1 is outside of the elements of this list of String, of which there are none now"
            ),
        ])
    func index(_ kind: String, _ message: String) async throws {
        let lines = try await said("misuse", kind)
        #expect(lines.contains { $0.contains(message) }, "\(lines)")
    }

    // MARK: One closure for both

    @Test("store.write and connection.write take the same blocks")
    func writeBlocks() throws {
        let test = try TestStore()
        let feed = try Feed(test.store)
        let add: (Connection) throws -> Int = { connection in
            let key = try connection.objects(Note.self).count
            try connection.add(Note(id: key))
            return key
        }
        #expect(try test.store.write(add) == 0)
        try feed.catchUp()
        #expect(try feed.connection.write(add) == 1)
        try feed.connection.write { try $0.add(Note(id: 2)) }
        try feed.connection.write { connection in try connection.add(Note(id: 3)) }
        try feed.connection.write { try feed.connection.add(Note(id: 4)) }
        try feed.connection.write {}
        #expect(try test.store.read { try $0.objects(Note.self).count } == 5)
        #expect(throws: StoreError.closed) { try feed.connection.write { _ in throw StoreError.closed } }
    }
}
