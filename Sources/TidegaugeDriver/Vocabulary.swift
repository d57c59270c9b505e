// The words in which a scenario asks something of a store: items, changes, queries, places of delivery. Each driver
// turns them into its own model and its own query language.
import Foundation

/// One row of the table that every scenario watches, as far as it is counted by. `RowShape` says what it holds beside.
public struct Item: BitwiseCopyable, Sendable, Equatable {
    /// Primary key.
    public var key: Int64
    /// 0 for rows that are written to; bystander queries watch groups of their own (1, 2, …).
    public var group: Int64
    /// What queries filter and sort by. Unique over the whole store, so that no order depends on an engine's tie rule.
    public var score: Int64
    /// Names the commit that last wrote the row.
    public var stamp: Int64

    public init(key: Int64, group: Int64, score: Int64, stamp: Int64) {
        (self.key, self.group, self.score, self.stamp) = (key, group, score, stamp)
    }
}

/// One row's part of a transaction. A plain value, so that a writer can fill a buffer it owns and allocate nothing.
public struct Change: Sendable, Equatable {
    public enum Operation: UInt8, Sendable {
        /// A new row with all of `item`.
        case insert
        /// Sets `score` and `stamp` of the row `item.key`.
        case updateScore
        /// Sets `stamp` alone: the row keeps its place in every order.
        case touch
        /// Deletes the row `item.key`.
        case delete
        /// Puts the row `item.key` to the front of the list and sets its `stamp`. Only where `EngineFacts.hasLists`.
        case moveToFront
    }

    public var operation: Operation
    public var item: Item

    public init(_ operation: Operation, _ item: Item) { (self.operation, self.item) = (operation, item) }
}

/// What an observer watches: the conjunction of the conditions that are set, in the order given.
public struct Query: Sendable, Hashable {
    public enum Order: Sendable, Hashable {
        /// None asked for: rows stand in the order they were inserted, the loaded ones by key.
        case none
        case scoreAscending
        case scoreDescending
        /// The list of all rows of group 0, at first by key; new rows come last. Only where `EngineFacts.hasLists`.
        case list
    }

    /// `lowerBound <= score < upperBound`.
    public var scores: Range<Int64>?
    public var group: Int64?
    /// `lowerBound <= key < upperBound`. Never asked for where keys are `.uuid`.
    public var keys: Range<Int64>?
    public var order: Order

    public init(scores: Range<Int64>? = nil, group: Int64? = nil, keys: Range<Int64>? = nil, order: Order = .none) {
        (self.scores, self.keys, self.group, self.order) = (scores, keys, group, order)
    }
}

/// Where deliveries run. The harness makes and owns the thread or queue and calls `subscribe` there.
public enum DeliverySite: Sendable {
    /// The run loop of the thread `subscribe` is called on.
    case runLoop
    /// A serial queue; `subscribe` is called inside a block of it.
    case queue(DispatchQueue)

    /// A site without its queue.
    public enum Kind: Sendable, CaseIterable {
        case runLoop
        case queue
    }
}

/// How hard a commit is promised. Names as in StillingWell; a driver maps them to its engine's settings.
public enum DurabilityLevel: String, Sendable, Codable, CaseIterable {
    /// Survives a power cut once commit has returned.
    case full
    /// Survives a killed process, not a power cut.
    case relaxed
    /// Lives as long as the processes that have it open.
    case memory
}

/// What primary keys look like in the store. An `Item` names them by number either way.
public enum KeyKind: String, Sendable, CaseIterable {
    /// The number itself.
    case ascending
    /// 16 bytes that look random and follow from the number.
    case uuid
}

/// What an application does on its observing thread between deliveries.
public enum SiteCall: Sendable {
    /// Begins a write and cancels it.
    case beginWrite
    /// Moves to the latest version.
    case refresh
}

/// The server that a driver's stores are kept by.
public struct ServerConfiguration: Sendable, Equatable {
    public enum Transport: Sendable {
        /// A socket of the file system.
        case unix
        /// The loopback interface.
        case tcp
    }

    /// Of one that is there already; nil: a store has one of its own.
    public var url: String?
    /// How one's own is reached.
    public var transport = Transport.unix
    /// Where it is reached from other hosts, over TCP: a name or number of this machine's. nil: from nowhere else.
    public var reachedAt: String?
    /// So many processes of other hosts are going to open the store.
    public var guests = 0
    /// Further connections that listen, to what nobody says.
    public var listeners = 0
    /// Further readers that are sent every commit, and throw it away.
    public var slots = 0
    /// So long a standby, which every commit waits for, takes to answer; 0: there is none.
    public var standbyNs: Int64 = 0

    public init() {}

    public var hasCompany: Bool { listeners > 0 || slots > 0 || standbyNs > 0 }
}

public struct StoreConfiguration: Sendable {
    /// An existing, empty folder of this trial's own. `.memory` stores are given one on a memory file system.
    public var directory: String
    public var durability: DurabilityLevel
    public var keys: KeyKind
    /// So many links lie between the rows that queries find and those that writers change; 0: they are the same.
    public var links: Int
    /// Whether rows of group 0 also stand in a list.
    public var hasList: Bool
    /// What rows hold beside their numbers; not plain only where the store is a `WholeRowStore`, keys ascend, and there are
    /// neither links nor a list.
    public var rows: RowShape
    /// Publisher operators between a notification and the sink.
    public var operators: Int
    /// A subscription reads what it will watch before it observes it.
    public var readsFirst: Bool
    /// Address space that the store may reserve for its file; nil: as much as it likes.
    public var mapBytes: Int?
    /// Of drivers that have one.
    public var server = ServerConfiguration()
    /// Of the store that a process of another host has made, as a `ReachableStore` says it; nil: this one makes it. Who opens it so
    /// neither loads it nor takes it away when it closes.
    public var address: String?
    /// What whoever opens it by its address has to know besides, and nobody else may.
    public var secret: String?
    /// Instructions are counted: what the engine can leave undone that goes by the clock, it leaves.
    public var isCounted: Bool

    public init(
        directory: String, durability: DurabilityLevel, keys: KeyKind = .ascending, links: Int = 0,
        hasList: Bool = false, rows: RowShape = .plain, operators: Int = 0, readsFirst: Bool = false,
        mapBytes: Int? = nil, isCounted: Bool = false
    ) {
        (self.directory, self.durability, self.keys, self.links) = (directory, durability, keys, links)
        (self.hasList, self.operators, self.readsFirst, self.mapBytes) = (hasList, operators, readsFirst, mapBytes)
        (self.rows, self.isCounted) = (rows, isCounted)
    }
}
