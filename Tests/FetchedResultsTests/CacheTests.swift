import FetchedResults
import Foundation
import LiveStore
import Testing

@Suite("The section cache of a controller") struct CacheTests {
    private static let request = FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay)

    /// Runs a controller to its end and gives what it had from the cache.
    private static func run(_ boats: BoatStore, _ request: FetchRequest<Boat> = Self.request, name: String = "quays")
        throws -> [CachedSection]?
    {
        let desk = try Desk(boats.store, request, cacheName: name)
        #expect(try desk.fetch())
        defer { desk.controller.invalidate() }
        return desk.controller.cachedSections
    }

    @Test("what was kept is there the next time, and not once anything has changed")
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

    @Test("another request of the same name makes it anew; so do other models")
    func requests() throws {
        let boats = try BoatStore(durability: .relaxed)
        try boats.add(0..<4)
        _ = try Self.run(boats)
        let other = FetchRequest(Boat.self) { $0.where(\.length > 1).sorted(by: \.length) }.sectioned(by: \.quay)
        #expect(try Self.run(boats, other) == nil)
        #expect(try Self.run(boats, other)?.map(\.objectCount) == [1, 1])
        #expect(try Self.run(boats) == nil)
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

    @Test("a file full of nonsense is removed and made anew")
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
