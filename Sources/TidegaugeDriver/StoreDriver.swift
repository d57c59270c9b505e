// A store as the harness sees it: four small protocols (`StoreDriver`, `DrivenStore`, `StoreWriter`,
// `DriverSubscription`) and the sink that receives deliveries. Optional abilities have protocols of their own
// (Abilities.swift). A driver translates; it must not measure or repair.

/// Opens stores of one engine. Stateless; any thread.
public protocol StoreDriver: Sendable {
    /// Type of the opened store. Its conformances define the driver's abilities.
    associatedtype Opened: DrivenStore
    /// Name on the command line and in the `driver` column: lower case with hyphens, such as `stillingwell`.
    var name: String { get }
    /// Facts about the engine besides the conformances of its store.
    var facts: EngineFacts { get }
    /// Opens a store in `configuration.directory`, which exists and is empty. Only if `EngineFacts.isShared`, another
    /// process may already have created a store there with the same configuration.
    /// - Throws: `DriverUnavailable` or the engine's error.
    func open(_ configuration: StoreConfiguration) throws -> Opened
}

/// An open store.
public protocol DrivenStore: AnyObject, Sendable {
    /// Loads `count` items in as few transactions as suits the engine. Called at most once, before anything else.
    /// `item(i)` for i in 0 ..< count returns ascending keys.
    func load(count: Int, item: (Int) -> Item) throws
    /// Creates a writer for the calling thread, which is the only one that uses it.
    func makeWriter() throws -> any StoreWriter
    /// Starts observing `query`. Called on the thread or queue of `site`, where every delivery must run. The first
    /// delivery is the initial one. The sink is retained at least until `cancel()`.
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any DriverSubscription
    /// Evaluates `query` from scratch on the latest committed state. Any thread.
    func contents(of query: Query) throws -> [Item]
    /// Returns the bytes that the store occupies on its file system.
    func fileBytes() throws -> Int
    /// Closes the store. No delivery starts after it returns.
    func close() throws
}

/// Commits transactions; used by one thread.
public protocol StoreWriter: AnyObject {
    /// Applies `changes`, which may be empty, in one transaction. `locked()` is called as soon as the transaction
    /// holds the engine's write lock, or has begun if the engine has none; a `SelfTimedWriter` may call it later.
    /// `locked()` may block: unless `EngineFacts.readsBesideWriter` is false, subscriptions and deliveries on other
    /// threads continue meanwhile.
    /// - Returns: the version after the commit, strictly increasing over all commits that change something; `nil` if
    ///   the engine has no versions; a token if the store conforms to `LateVersions`, or `nil` without changes.
    /// - Throws: `MissingItem` for a change of a missing row, which leaves the store unchanged, or the engine's error.
    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64?
}

/// A writer whose engine runs in another process and takes the times of its commits itself. They replace those that the
/// harness takes around `commit`, which contain the way to that process and back.
public protocol SelfTimedWriter: StoreWriter {
    /// Encodes the changes of the next `commit`, which gets the same ones, so that encoding is not measured. `commit`
    /// may also be called without it.
    /// - Throws: if the changes cannot be encoded.
    func prepare(_ changes: UnsafeBufferPointer<Change>) throws
    /// Times of the last commit that returned; nil before the first.
    var lastTimes: CommitTimes? { get }
}

/// Times of a commit on the monotonic clock, in ns.
public struct CommitTimes: Sendable, Equatable {
    /// The request was sent to the engine.
    public var sentNs: Int64
    /// The engine had the write lock, or had begun if it does not know.
    public var lockedNs: Int64
    /// The commit had ended in the engine.
    public var doneNs: Int64

    public init(sentNs: Int64, lockedNs: Int64, doneNs: Int64) {
        (self.sentNs, self.lockedNs, self.doneNs) = (sentNs, lockedNs, doneNs)
    }
}

/// A writer of a store whose commits are a closure.
public final class CommittingWriter: StoreWriter {
    private let body: (_ changes: UnsafeBufferPointer<Change>, _ locked: () -> Void) throws -> Int64?

    public init(_ body: @escaping (UnsafeBufferPointer<Change>, () -> Void) throws -> Int64?) { self.body = body }

    public func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try body(changes, locked)
    }
}

/// Keeps a sink attached. `cancel()` may be called on any thread; no delivery starts after it returns.
public protocol DriverSubscription: AnyObject, Sendable {
    func cancel()
    /// Returns the rows of this subscription. Called on its delivery context.
    func currentItems() throws -> [Item]
    /// Calls `body` with the existing rows at `indices`, at the version of the current delivery. Called on the delivery
    /// context, inside some callbacks. If `EngineFacts.shows` is `keys`, other columns are undefined. The read delays
    /// later deliveries, so a driver should materialise only these rows.
    /// - Throws: the engine's error.
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws
}

extension DriverSubscription {
    public func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws {
        let items = try currentItems()
        for item in items[indices.clamped(to: 0..<items.count)] { body(item) }
    }

    /// The same for a delivery that contains only keys.
    package func forEachShown(_ indices: Range<Int>, of keys: [Int64], _ body: (Item) -> Void) {
        for key in keys[indices.clamped(to: 0..<keys.count)] { body(Item(key: key, group: 0, score: 0, stamp: 0)) }
    }
}

/// Receives the deliveries of a subscription on its delivery context, one at a time.
public protocol DeliverySink: AnyObject, Sendable {
    func deliver(_ delivery: borrowing Delivery)
    /// Called on any thread when the engine reports an error of this subscription.
    func fail(_ error: any Error)
}

/// One callback of an engine, in terms of rows.
public struct Delivery: Sendable {
    /// Store version of the callback's data; `nil` if the engine has no versions; a token if the store conforms to
    /// `LateVersions`.
    public var version: Int64?
    public var isInitial: Bool
    /// Number of rows in the collection after this delivery.
    public var count: Int
    /// Indices in the old collection, ascending, including moved rows.
    public var deletions: [Int]
    /// Indices in the new collection, ascending, including moved rows.
    public var insertions: [Int]
    /// Indices in the new collection of rows that changed in place, ascending.
    public var modifications: [Int]
    /// Number of moved rows. Each is counted in both `deletions` and `insertions`.
    public var moveCount: Int
    /// Time in ns on the monotonic clock at which an application in the engine's process could use the data, if the
    /// engine states it. Nil otherwise: then the time of the call counts.
    public var atNs: Int64?

    public init(
        version: Int64?, isInitial: Bool, count: Int, deletions: [Int] = [], insertions: [Int] = [],
        modifications: [Int] = [], moveCount: Int = 0, atNs: Int64? = nil
    ) {
        (self.version, self.isInitial, self.count, self.deletions) = (version, isInitial, count, deletions)
        (self.insertions, self.modifications, self.moveCount) = (insertions, modifications, moveCount)
        self.atNs = atNs
    }
}

/// Names of threads of drivers whose work belongs to the harness.
public enum HarnessThread {
    /// Reads what an engine in another process writes.
    public static let engineReader = "engine-reader"
}

/// Error: the engine cannot run on this machine, such as for a missing library, kernel feature or permission, or cannot
/// do what was asked of it. The trial is then reported as unavailable, not as failed.
public struct DriverUnavailable: Error, CustomStringConvertible, Sendable {
    /// Missing requirement, with its remedy if there is one.
    public var description: String

    public init(_ description: String) { self.description = description }
}

/// An error of an engine that has a name of its own in reports.
public protocol NamedEngineError: Error, CustomStringConvertible {
    /// One word, such as `engine_died`.
    var reportName: String { get }
}

/// Thrown by a writer that was asked to change a missing item.
public struct MissingItem: Error, CustomStringConvertible, Sendable {
    public let key: Int64

    public init(key: Int64) { self.key = key }

    public var description: String { "item \(key) is not in the store: the schedule and the store disagree" }
}
