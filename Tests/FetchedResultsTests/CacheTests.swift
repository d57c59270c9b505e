import FetchedResults
import Foundation
import StillingWell
import StillingWellSync
import Testing

@Suite("The section cache of a controller") struct CacheTests {
    private static let request = FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay)

    /// Runs a controller to its end and returns the sections that it had from the cache.
    private static func run(_ boats: BoatStore, _ request: FetchRequest<Boat> = Self.request, name: String = "quays")
        throws -> [CachedSection]?
    {
        let desk = try Desk(boats.store, request, cacheName: name)
        #expect(try desk.fetch())
        defer { desk.controller.invalidate() }
        return desk.controller.cachedSections
    }

    @Test("the next controller finds the cached sections, unless the store has changed")
    func versions() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        #expect(try Self.run(boats) == nil)
        let kept = try #require(try Self.run(boats))
        #expect(kept.map(\.name) == ["0", "1", "2"] && kept.map(\.objectCount) == [2, 1, 1])
        try boats.add(4..<5)
        #expect(try Self.run(boats) == nil)
        #expect(try Self.run(boats)?.map(\.objectCount) == [2, 2, 1])
    }

    @Test("another request with the same cache name replaces the cache")
    func requests() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        _ = try Self.run(boats)
        let other = FetchRequest(Boat.self) { $0.where(\.length > 1).sorted(by: \.length) }.sectioned(by: \.quay)
        #expect(try Self.run(boats, other) == nil)
        #expect(try Self.run(boats, other)?.map(\.objectCount) == [1, 1])
        #expect(try Self.run(boats) == nil)
    }

    @Test("requests that differ in a constant's last bit, or in the section keys, do not get each other's sections")
    func identities() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.store.write { connection in
            for number in 0..<6 {
                let boat = Boat(number, length: number, quay: number % 2)
                boat.hull = Data([1, 2, UInt8(number)])
                boat.built = Date(timeIntervalSinceReferenceDate: Double(number) / 8)
                try connection.add(boat)
            }
        }
        let kinds: [[FetchRequest<Boat>]] = [
            (0..<6).map { number in FetchRequest(Boat.self) { $0.where(\.hull == Data([1, 2, UInt8(number)])) } },
            (0..<6).map { number in
                FetchRequest(Boat.self) {
                    $0.where(\.built == Date(timeIntervalSinceReferenceDate: Double(number) / 8))
                }
            },
            ["a", "a\", \"b", "e\u{301}", "\u{e9}"].map { name in
                FetchRequest(Boat.self) { $0.where(\.name == name || \.length == 3) }
            },
            (1..<4).map { size in
                FetchRequest(Boat.self).sectioned(by: \.length, named: "by \(size)") { $0 / size }
            },
            [true, false].map { FetchRequest(Boat.self).sectioned(by: \.quay, ascending: $0) },
            [FetchRequest(Boat.self), FetchRequest(Boat.self) { $0.sorted(by: \.length) }],
        ]
        for (kind, requests) in kinds.enumerated() {
            for (index, request) in requests.enumerated() {
                #expect(try Self.run(boats, request) == nil, "request \(index) of kind \(kind)")
            }
        }
    }

    @Test("sections by a function are kept under its name; without one they are not")
    func functions() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<6)
        func request(_ size: Int, _ name: String?) -> FetchRequest<Boat> {
            FetchRequest(Boat.self).sectioned(by: \.length, named: name) { $0 / size }
        }
        #expect(try Self.run(boats, request(2, "pairs")) == nil)
        #expect(try Self.run(boats, request(2, "pairs"))?.map(\.objectCount) == [2, 2, 2])
        #expect(try Self.run(boats, request(3, nil)) == nil)
        #expect(try Self.run(boats, request(3, nil)) == nil)
        #expect(try Self.run(boats, request(3, "triples")) == nil)
        #expect(try Self.run(boats, request(3, "triples"))?.map(\.objectCount) == [3, 3])
    }

    @Test("the cache of the delivered version does not contain own writes that have not been delivered")
    func ownWrites() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        let desk = try Desk(boats.store, Self.request, cacheName: "quays")
        #expect(try desk.fetch())
        let other = try Desk(boats.store, Self.request, cacheName: "quays")
        try desk.connection.write { try desk.connection.add(Boat(9, length: 1, quay: 9)) }
        #expect(desk.controller.sections.count == 4)
        desk.controller.invalidate()
        // The fetch is made at the version of the delivery.
        try other.controller.performFetch()
        #expect(other.controller.cachedSections?.map(\.objectCount) == [2, 1, 1])
        other.controller.invalidate()
    }

    @Test("a controller may be dropped on another thread")
    func droppedElsewhere() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        let thread = RunLoopThread("interface")
        let store = boats.store
        let dropped = Held<FetchedResultsController<Boat>>()
        let (isTold, table) = (DispatchSemaphore(value: 0), Held<Table>())
        try thread.performAndWait {
            let controller = FetchedResultsController(
                try store.connect(on: .runLoop), Self.request, cacheName: "quays")
            table.value = Table()
            table.value?.whenChanged = { isTold.signal() }
            controller.delegate = table.value
            try controller.performFetch()
            dropped.value = controller
        }
        isTold.wait()
        dropped.value = nil
        try thread.performAndWait { table.value = nil }
        thread.stop()
        #expect(try Self.run(boats)?.map(\.objectCount) == [2, 1, 1])
    }

    @Test("all paths are listed, and caches can be deleted by name or together; a store in memory keeps none")
    func paths() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        for name in ["b", "a", "c"] { _ = try Self.run(boats, name: name) }
        let names = { boats.store.fetchedResultsCachePaths.map { URL(fileURLWithPath: $0).lastPathComponent } }
        #expect(names() == ["a.json", "b.json", "c.json"])
        try boats.store.deleteFetchedResultsCache(named: "b")
        #expect(names() == ["a.json", "c.json"])
        #expect(try Self.run(boats, name: "a") != nil)
        try boats.store.deleteFetchedResultsCache()
        #expect(names().isEmpty)
        let inMemory = try BoatStore()
        _ = try Self.run(inMemory)
        #expect(inMemory.store.fetchedResultsCachePaths.isEmpty)
    }

    @Test("a cache file that cannot be read is removed and written again")
    func nonsense() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        _ = try Self.run(boats)
        let path = try #require(boats.store.fetchedResultsCachePaths.first)
        try Data("[1, 2".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try Self.run(boats) == nil)
        #expect(try Self.run(boats) != nil)
    }
}
