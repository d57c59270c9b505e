// Optional abilities of engines: one protocol each, to which a driver's store conforms if its engine has the ability.
import Foundation

/// Observing threads can call the store.
public protocol CallableOnSite: DrivenStore {
    /// Makes a call of an application on its observing thread. Runs on the thread or queue of `site`. `granted()` is
    /// called when the wait is over: when the write has begun (it is then cancelled), or when the refresh has finished.
    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws
}

/// A read transaction can be held open while other code runs.
public protocol TransactionalReading: DrivenStore {
    /// Runs `body` inside a read transaction. Any thread; may be nested.
    func read(_ body: () throws -> Void) throws
}

/// Writes can be queued.
public protocol AsynchronousWriting: DrivenStore {
    /// Queues a transaction that runs `within` and then makes `changes`, and returns without waiting. On the thread
    /// or queue of `site`.
    func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws
}

/// A snapshot can be held while others write.
public protocol Pinning: DrivenStore {
    /// Holds the newest version until the result is released. Any thread.
    func pin() throws -> any HeldVersion
    /// Returns the number of versions that are kept, including the newest. Any thread.
    func activeVersions() throws -> Int
}

/// A held version of a `Pinning` store. Any thread.
public protocol HeldVersion: AnyObject, Sendable {
    var version: Int64 { get }
    /// Returns the result that `contents(of:)` had at this version.
    func contents(of query: Query) throws -> [Item]
}

/// The store can be copied into a compacted file.
public protocol Compacting: DrivenStore {
    /// Returns the size in bytes of the newest version in a compacted file.
    func compactedBytes() throws -> Int
}

/// Observing threads may start and end while the store is open.
public protocol SiteForgetting: DrivenStore {
    /// Releases everything that belongs to `site`, whose thread or queue is about to end. Called there, after all its
    /// subscriptions were cancelled.
    func forget(_ site: DeliverySite) throws
}

/// Rows can hold text and bytes and can have counterparts in further tables (`StoreConfiguration.rows`).
public protocol WholeRowStore: DrivenStore {
    /// Calls `body` with each row of `contents(of:)`, in the same order and with all values. Any thread, which also
    /// runs `body`.
    func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws
}

/// A subscription of a `WholeRowStore`.
public protocol WholeRowSubscription: DriverSubscription {
    /// Like `forEachShown`, with all values of the rows. If `EngineFacts.shows` is `keys`, the values are the store's
    /// current ones.
    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws
}

/// Observers can read more than a delivery contains (`observers.reads`). Subscriptions are `AnsweringSubscription`s;
/// those of lists and of rows behind links need not answer.
public protocol AnsweringStore: DrivenStore {}

/// A subscription of an `AnsweringStore`.
public protocol AnsweringSubscription: DriverSubscription {
    /// Reads as an application does inside a callback. Called on the delivery context, inside callbacks. Data of the
    /// callback is read at its version. A read in a transaction of its own may be of a newer version.
    /// - Throws: the engine's error.
    func answer(_ question: ReadQuestion) throws -> ReadAnswer
}

/// The version of a commit or a delivery is known only after the load: the server orders commits but returns no
/// number for them. Until then a commit carries a token of one kind, and a delivery a token of another.
public protocol LateVersions: DrivenStore {
    /// Returns the order of commits, as far as the deliveries so far show it. All `commits` have returned. Any
    /// thread.
    /// - Parameters:
    ///   - commits: tokens returned to the writers of all processes.
    ///   - others: results of `shown` in processes that opened the store by its address.
    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder
    /// Returns the states that deliveries of this process had, for the `order` of another process. Any thread.
    func shown() throws -> Data
    /// Returns whether the state of a delivery contains a commit. Any thread, at any time.
    func shows(delivery: Int64, commit: Int64) -> Bool
}

/// Versions that replace the tokens of a `LateVersions` store.
public struct LateOrder: Sendable {
    /// Version by commit token, from 1 without gaps.
    public var versions: [Int64: Int64]
    /// Returns the version of a delivery by its token; 0 before the first commit.
    public var standing: @Sendable (Int64) -> Int64
    /// The same function for the deliveries of each other process, in the order of the argument `alsoShown`.
    public var standingElsewhere: [@Sendable (Int64) -> Int64]
    /// Contradiction in what was shown, as a sentence: for example two states of which neither contains the other. Nil
    /// if there is none.
    public var problem: String?

    public init(
        versions: [Int64: Int64], standing: @escaping @Sendable (Int64) -> Int64,
        standingElsewhere: [@Sendable (Int64) -> Int64] = [], problem: String? = nil
    ) {
        (self.versions, self.standing) = (versions, standing)
        (self.standingElsewhere, self.problem) = (standingElsewhere, problem)
    }
}

/// Part of the work is done in server processes, whose cost is counted too.
public protocol ServedStore: DrivenStore {
    /// Returns the CPU time in ns so far by kind of server process; nil if it is unknown. Any thread.
    func serverCPU() -> [String: Int64]?
}

/// The engine counts its own work.
public protocol WorkCounting: DrivenStore {
    /// Returns the counts since the store was opened, by name. They never decrease, and the names stay the same. A name
    /// has at most 40 lower-case letters, digits and underscores, a letter first. Empty: nothing is counted. Any
    /// thread.
    func counters() throws -> [String: Int]
    /// Returns the CPU time in ns so far of the engine's other processes if all their threads sleep, otherwise nil.
    /// 0 for an engine within this process, which is the default. Any thread.
    func asleepElsewhereNs() -> Int64?
}

extension WorkCounting {
    public func asleepElsewhereNs() -> Int64? { 0 }
}

/// The engine has other numbers for keys and scores than the harness. Messages state the engine's.
package protocol RenumberedStore: DrivenStore {
    /// Returns a row with the engine's numbers.
    func engineRow(_ row: Item) -> Item
}

/// Processes on other hosts, which share no file system, can open the store.
public protocol ReachableStore: DrivenStore {
    /// Value of `StoreConfiguration.address` with which another process opens this store. Without `secret`.
    var address: String { get }
    /// Value of `StoreConfiguration.secret` for the other process; nil: none is needed, or the process has it already.
    var secret: String? { get }
    /// Returns why a process there cannot reach the store and what to do, or nil if no obstacle is known.
    func obstacle(from place: ProcessPlace) -> String?
}

/// Location of a process that opens a store, relative to the process that created it.
public enum ProcessPlace: Sendable, CaseIterable {
    /// This machine and the same network.
    case near
    /// This machine in another network, such as a container's.
    case otherNetwork
    case otherMachine
}

/// The store has its own server, into which faults can be injected. Methods are called on the thread that opened the
/// store, unless noted otherwise.
public protocol HarmableServer: DrivenStore {
    /// Shuts the server down and starts it again with its data. Returns when the server accepts connections.
    func restartServer() throws
    /// Closes the connections over which observers are notified. Any thread.
    func cutObservers() throws
    /// Adds an observer that starts reading and then stops until the result is released. Any thread.
    func stopListener() throws -> AnyObject
    /// Commits one transaction that writes `rows` unobserved rows, and returns when it is committed. Any thread.
    func commitLarge(rows: Int) throws
}

/// The rows of the store cannot be read, so the harness checks none.
public protocol RowlessStore: DrivenStore {}

extension RowlessStore {
    public func contents(of query: Query) throws -> [Item] { throw StoreHasNoRows() }
}

/// Error of a store whose rows cannot be read.
public struct StoreHasNoRows: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "the store keeps no rows: ask for versions only" }
}

/// The public ability protocols of this file.
public enum Ability: CaseIterable, Sendable {
    case callableOnSite
    case transactionalReading
    case asynchronousWriting
    case pinning
    case compacting
    case siteForgetting
    case wholeRows
    case answering
    case lateVersions
    case served
    case workCounting
    case reachable
    case harmableServer
    case rowless

    /// Returns whether stores of a type have the ability.
    public func isHeld(by store: any DrivenStore.Type) -> Bool {
        switch self {
        case .callableOnSite: store is any CallableOnSite.Type
        case .transactionalReading: store is any TransactionalReading.Type
        case .asynchronousWriting: store is any AsynchronousWriting.Type
        case .pinning: store is any Pinning.Type
        case .compacting: store is any Compacting.Type
        case .siteForgetting: store is any SiteForgetting.Type
        case .wholeRows: store is any WholeRowStore.Type
        case .answering: store is any AnsweringStore.Type
        case .lateVersions: store is any LateVersions.Type
        case .served: store is any ServedStore.Type
        case .workCounting: store is any WorkCounting.Type
        case .reachable: store is any ReachableStore.Type
        case .harmableServer: store is any HarmableServer.Type
        case .rowless: store is any RowlessStore.Type
        }
    }
}

extension DrivenStore {
    /// Returns the store as a type with an ability: `try store.conforming(to: (any Pinning).self)`.
    /// - Throws: `DriverUnavailable` if it does not conform.
    public func conforming<Able>(to ability: Able.Type) throws -> Able {
        guard let able = self as? Able else { throw DriverUnavailable("the driver's store is no '\(ability)'") }
        return able
    }
}
