// Data types in which a scenario addresses a store: items, changes, queries, delivery contexts. Each driver maps them
// to its own model and query language.
import Foundation

/// The four numbers of a row that the harness uses. `RowShape` has the rest.
public struct Item: BitwiseCopyable, Sendable, Equatable {
    /// Primary key.
    public var key: Int64
    /// 0 for rows that writers change, except audited rows (−1). Idle queries observe groups of their own (1, 2, …).
    public var group: Int64
    /// Value that queries filter and sort by. Unique in the store, so that no order depends on an engine's tie rule.
    public var score: Int64
    /// Identifies the commit that last wrote the row, except for its sign; 0 for rows as loaded.
    public var stamp: Int64

    public init(key: Int64, group: Int64, score: Int64, stamp: Int64) {
        (self.key, self.group, self.score, self.stamp) = (key, group, score, stamp)
    }
}

/// Change of one row in a transaction. A plain value, so that a writer can reuse a buffer without allocating.
public struct Change: Sendable, Equatable {
    public enum Operation: UInt8, Sendable {
        /// Inserts a row with all values of `item`.
        case insert
        /// Sets `score` and `stamp` of the row with `item.key`.
        case updateScore
        /// Sets only `stamp`: the row keeps its position in every order.
        case touch
        /// Deletes the row with `item.key`.
        case delete
        /// Moves the row with `item.key` to the front of the list and sets its `stamp`. Only if `EngineFacts.hasLists`.
        case moveToFront
    }

    public var operation: Operation
    public var item: Item

    public init(_ operation: Operation, _ item: Item) { (self.operation, self.item) = (operation, item) }
}

/// A query: the conjunction of all conditions that are set, with a sort order.
public struct Query: Sendable, Hashable {
    public enum Order: Sendable, Hashable {
        /// No order requested: order of insertion, with the loaded rows by key.
        case none
        case scoreAscending
        case scoreDescending
        /// The list of all rows of group 0: initially by key, new rows last. Only if `EngineFacts.hasLists`.
        case list
    }

    /// `lowerBound <= score < upperBound`.
    public var scores: Range<Int64>?
    public var group: Int64?
    /// `lowerBound <= key < upperBound`. Not used with `.uuid` keys.
    public var keys: Range<Int64>?
    public var order: Order

    public init(scores: Range<Int64>? = nil, group: Int64? = nil, keys: Range<Int64>? = nil, order: Order = .none) {
        (self.scores, self.keys, self.group, self.order) = (scores, keys, group, order)
    }
}

/// A delivery context: the run loop or the serial queue that deliveries run on. The harness creates and owns the thread
/// or queue, and calls `subscribe` there.
public enum DeliverySite: Sendable {
    /// The run loop of the thread that calls `subscribe`.
    case runLoop
    /// A serial queue. `subscribe` is called inside a block of it.
    case queue(DispatchQueue)

    /// Kind of a delivery context.
    public enum Kind: Sendable, CaseIterable {
        case runLoop
        case queue
    }
}

/// Durability of a commit. Names are those of StillingWell; a driver maps them to its engine's settings.
public enum DurabilityLevel: String, Sendable, Codable, CaseIterable {
    /// Survives a power cut after the commit returned.
    case full
    /// Survives a killed process but not a power cut.
    case relaxed
    /// Lives as long as the processes that have the store open.
    case memory
}

/// Primary keys as the store has them. An `Item` uses numbers in both cases.
public enum KeyKind: String, Sendable, CaseIterable {
    /// The number itself.
    case ascending
    /// 16 bytes that are derived from the number and whose order looks random.
    case uuid
}

/// A call that an application makes on its observing thread between deliveries.
public enum SiteCall: Sendable {
    /// Begins a write transaction and cancels it.
    case beginWrite
    /// Advances to the latest version.
    case refresh
}

/// The server that keeps a driver's stores.
public struct ServerConfiguration: Sendable, Equatable {
    public enum Transport: Sendable {
        /// A Unix socket in the file system.
        case unix
        /// TCP over the loopback interface.
        case tcp
    }

    /// URL of an existing server; nil: the store starts its own.
    public var url: String?
    /// Transport to the store's own server.
    public var transport = Transport.unix
    /// Host name or address of this machine for TCP connections from other hosts; nil: not reachable from other hosts.
    public var reachedAt: String?
    /// Number of hosts from which processes will open the store.
    public var guests = 0
    /// Number of additional connections that listen on unused channels.
    public var listeners = 0
    /// Number of additional readers that receive every commit and discard it.
    public var slots = 0
    /// Delay in ns of a standby that every synchronous commit waits for; 0: no standby.
    public var standbyNs: Int64 = 0

    public init() {}

    public var hasCompany: Bool { listeners > 0 || slots > 0 || standbyNs > 0 }
}

public struct StoreConfiguration: Sendable {
    /// An existing folder for this trial alone. For `.memory` stores it is on a memory file system if one is
    /// writable.
    public var directory: String
    public var durability: DurabilityLevel
    public var keys: KeyKind
    /// Number of links between the rows that queries find and the rows that writers change; 0: they are the same rows.
    public var links: Int
    /// Whether rows of group 0 are also kept in a list.
    public var hasList: Bool
    /// Contents of rows besides their numbers. Not plain only if the store is a `WholeRowStore` with ascending keys,
    /// no links and no list.
    public var rows: RowShape
    /// Number of publisher operators between a notification and the sink.
    public var publisherChainLength: Int
    /// Whether a subscription reads its query before it observes it.
    public var readsFirst: Bool
    /// Address space in bytes that the store may reserve for its file; nil: no limit.
    public var mapBytes: Int?
    /// Server settings, for drivers with a server.
    public var server = ServerConfiguration()
    /// Address of a store that another process created, as in `ReachableStore`; nil: the store is found in `directory`
    /// or created. A store opened by its address is neither loaded nor deleted at close.
    public var address: String?
    /// Secret needed to open the store by its address.
    public var secret: String?
    /// Whether instructions are counted. A driver can then turn off work of the engine that depends on the clock.
    public var isCounted: Bool
    /// Time in ns without an answer after which an engine in another process counts as hung.
    public var silenceLimitNs: Int64 = 10_000_000_000

    public init(
        directory: String, durability: DurabilityLevel, keys: KeyKind = .ascending, links: Int = 0,
        hasList: Bool = false, rows: RowShape = .plain, publisherChainLength: Int = 0, readsFirst: Bool = false,
        mapBytes: Int? = nil, isCounted: Bool = false
    ) {
        (self.directory, self.durability, self.keys, self.links) = (directory, durability, keys, links)
        (self.hasList, self.readsFirst, self.mapBytes) = (hasList, readsFirst, mapBytes)
        self.publisherChainLength = publisherChainLength
        (self.rows, self.isCounted) = (rows, isCounted)
    }
}
