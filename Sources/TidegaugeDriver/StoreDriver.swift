// A store seen from the harness: four small protocols (`StoreDriver`, `DrivenStore`, `StoreWriter`, `DriverSubscription`) and
// the sink that receives what an engine delivers. What only some engines can do are protocols of their own (Abilities.swift).
// A driver translates; it never measures, batches or repairs.

/// Opens stores of one engine. Stateless; any thread.
public protocol StoreDriver: Sendable {
    /// What `open` gives. The abilities it conforms to are the driver's.
    associatedtype Opened: DrivenStore
    /// The name on the command line and in the `driver` column: lower case with hyphens, such as `stillingwell`.
    var name: String { get }
    /// What there is to know of the engine beside what its store conforms to.
    var facts: EngineFacts { get }
    /// Opens a store in `configuration.directory`, which exists and is empty; where `EngineFacts.isShared`, another
    /// process may have made one there with the same configuration. Throws the engine's error.
    func open(_ configuration: StoreConfiguration) throws -> Opened
}

/// One open store. Methods say which thread the harness calls them on.
public protocol DrivenStore: AnyObject, Sendable {
    /// Loads `count` items in as few transactions as the engine likes; called once, before anything else.
    /// `item(i)` for i in 0 ..< count gives ascending keys.
    func load(count: Int, item: (Int) -> Item) throws
    /// A writer for the calling thread, which is the only one to use it.
    func makeWriter() throws -> any StoreWriter
    /// Starts watching `query`; called on the thread or queue of `site`, where every delivery must run as well.
    /// The first delivery is the initial one. The sink is held until `cancel()`.
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any DriverSubscription
    /// What `query` finds in the latest committed state, evaluated from scratch; any thread. The oracle's reference.
    func contents(of query: Query) throws -> [Item]
    /// Bytes the store occupies on its file system.
    func fileBytes() throws -> Int
    /// Ends everything. No delivery starts after it returns.
    func close() throws
}

/// Commits transactions; used by one thread.
public protocol StoreWriter: AnyObject {
    /// Applies `changes` in one transaction and returns its version once it is committed.
    /// `locked()` is called as soon as the transaction holds the engine's write lock. It may take its time: others go on
    /// subscribing, and being delivered to, meanwhile. `changes` may be empty.
    /// - Returns: the store's version after the commit, strictly increasing over all commits that change something; `nil`
    ///   where an engine has none; a token where the store is one of `LateVersions`.
    /// - Throws: `MissingItem` for a change of a row that is not there, or the engine's error; nothing is changed then.
    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64?
}

/// A writer of a store that commits by itself.
public final class CommittingWriter: StoreWriter {
    private let body: (_ changes: UnsafeBufferPointer<Change>, _ locked: () -> Void) throws -> Int64?

    public init(_ body: @escaping (UnsafeBufferPointer<Change>, () -> Void) throws -> Int64?) { self.body = body }

    public func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try body(changes, locked)
    }
}

/// What keeps a sink attached. `cancel()` may be called from any thread; no delivery starts once it has returned.
public protocol DriverSubscription: AnyObject, Sendable {
    func cancel()
    /// The rows this subscription shows now, read through the live collection itself; called on its site.
    func currentItems() throws -> [Item]
    /// Gives `body` those of the rows at `indices` that there are, as the delivery shows them that is being made: called on
    /// the site, inside some of the callbacks. Where `EngineFacts.shows` is `keys`, the other columns say nothing. Costs
    /// the callback what it costs to read so many rows, so that who has to make rows should make no others.
    /// - Throws: the engine's error.
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws
}

extension DriverSubscription {
    public func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws {
        let items = try currentItems()
        for item in items[indices.clamped(to: 0..<items.count)] { body(item) }
    }

    /// The same where a delivery shows keys, and nothing else.
    package func forEachShown(_ indices: Range<Int>, of keys: [Int64], _ body: (Item) -> Void) {
        for key in keys[indices.clamped(to: 0..<keys.count)] { body(Item(key: key, group: 0, score: 0, stamp: 0)) }
    }
}

/// Receives deliveries, on the site of the subscription, one at a time.
public protocol DeliverySink: AnyObject, Sendable {
    func deliver(_ delivery: borrowing Delivery)
    /// The engine gave up on this subscription.
    func fail(_ error: any Error)
}

/// One callback of an engine, in terms of rows. Arrays are the engine's own where it has them: nothing is copied.
public struct Delivery {
    /// The store version the data of this callback stands at; `nil` where an engine has none, a token where
    /// the store is one of `LateVersions`.
    public var version: Int64?
    public var isInitial: Bool
    /// Rows in the collection after this delivery.
    public var count: Int
    /// Indices in the old collection, ascending; those of moved rows included.
    public var deletions: [Int]
    /// Indices in the new collection, ascending; those of moved rows included.
    public var insertions: [Int]
    /// Indices in the new collection of rows that stayed and changed, ascending.
    public var modifications: [Int]
    /// How many of the deletions and insertions are the two ends of one moved row.
    public var moveCount: Int

    public init(
        version: Int64?, isInitial: Bool, count: Int, deletions: [Int] = [], insertions: [Int] = [],
        modifications: [Int] = [], moveCount: Int = 0
    ) {
        (self.version, self.isInitial, self.count, self.deletions) = (version, isInitial, count, deletions)
        (self.insertions, self.modifications, self.moveCount) = (insertions, modifications, moveCount)
    }
}

/// Thrown by `StoreDriver.open` where the engine cannot run on this machine at all: a missing library, kernel feature
/// or permission. The scenario is then reported as unavailable, not as failed.
public struct DriverUnavailable: Error, CustomStringConvertible, Sendable {
    /// What is missing and how to get it.
    public var description: String

    public init(_ description: String) { self.description = description }
}

/// Thrown by a writer that was asked to change an item which is not there.
public struct MissingItem: Error, CustomStringConvertible, Sendable {
    public let key: Int64

    public init(key: Int64) { self.key = key }

    public var description: String { "item \(key) is not in the store: the schedule and the store disagree" }
}
