// What only some engines can do: a protocol each, which a driver's store conforms to where its engine can. Nothing is
// declared beside: what a scenario may ask for is read off the type of the store.
import Foundation

/// Observing threads can turn to the store themselves.
public protocol CallableOnSite: DrivenStore {
    /// What an application calls where it observes; on the thread or queue of `site`, where somebody has subscribed.
    /// `granted()` is called as soon as the call is through with waiting: when the write has begun (it is cancelled after
    /// that), or when the refresh is over.
    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws
}

/// A read transaction can be held while other things are done.
public protocol TransactionalReading: DrivenStore {
    /// Runs `body` while a version is being read, as an application reads; any thread, inside a read too.
    func read(_ body: () throws -> Void) throws
}

/// Writes can be handed over.
public protocol AsynchronousWriting: DrivenStore {
    /// Begins a transaction that nobody waits for, in which `within` runs and then `changes` are made; on the thread or
    /// queue of `site`. Returns before.
    func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws
}

/// A snapshot can be held while others write.
public protocol Pinning: DrivenStore {
    /// Holds the newest version until the result is released; any thread.
    func pin() throws -> any HeldVersion
    /// Versions that are kept, the newest one included. Any thread.
    func activeVersions() throws -> Int
}

/// A version of a `Pinning` store that is held. Any thread.
public protocol HeldVersion: AnyObject, Sendable {
    var version: Int64 { get }
    /// What `contents(of:)` gave at that version.
    func contents(of query: Query) throws -> [Item]
}

/// A store can be rewritten without what its versions have left behind.
public protocol Compacting: DrivenStore {
    /// Bytes that its newest version takes in a file without anything else.
    func compactedBytes() throws -> Int
}

/// Threads that observe may come and go while the store is open.
public protocol SiteForgetting: DrivenStore {
    /// The thread or queue of `site` is about to end: lets go of what belongs to it. Called there, when all that was
    /// subscribed there is cancelled.
    func forget(_ site: DeliverySite) throws
}

/// Rows can hold text and bytes, and stand in several tables (`StoreConfiguration.rows`).
public protocol WholeRowStore: DrivenStore {
    /// What `contents(of:)` gives, in its order, with all that rows hold. Any thread; `body` is called on it.
    func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws
}

/// A subscription of a `WholeRowStore`.
public protocol WholeRowSubscription: DriverSubscription {
    /// As `forEachShown`, with all that rows hold; where `EngineFacts.shows` is `keys`, as they are in the store by now.
    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws
}

/// What it has subscribed can be asked more than what a delivery tells (`observers.reads`): subscriptions are
/// `AnsweringSubscription`s, but for those of lists and of rows behind links.
public protocol AnsweringStore: DrivenStore {}

/// A subscription of an `AnsweringStore`.
public protocol AnsweringSubscription: DriverSubscription {
    /// What an application reads inside a callback; called on the site, inside callbacks. What the callback shows already is
    /// read from there, at its version; what an engine reads in a transaction of its own may be of a newer one.
    /// - Throws: the engine's error.
    func answer(_ question: ReadQuestion) throws -> ReadAnswer
}

/// Which version a commit has made, and at which a delivery stands, is known only when all is over: a server that writers turn to
/// at once has an order of commits, and no number that a commit could return. Until then both are tokens, of two kinds.
public protocol LateVersions: DrivenStore {
    /// The order of commits, of which all have returned, as far as deliveries tell it that were made until now. Any thread.
    /// O(commits log commits + deliveries).
    /// - Parameters:
    ///   - commits: what the writers of all processes were given.
    ///   - others: what processes that have the store open by its address have shown (`shown`).
    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder
    /// What deliveries of this process have stood at, for the `order` of another one. Any thread.
    func shown() throws -> Data
    /// Whether what a delivery shows contains a commit. Any thread, at any time.
    func shows(delivery: Int64, commit: Int64) -> Bool
}

/// Versions in place of tokens.
public struct LateOrder: Sendable {
    /// By a commit's token: from 1, without gaps.
    public var versions: [Int64: Int64]
    /// By a delivery's token: the version that it stands at, 0 before the first commit.
    public var standing: @Sendable (Int64) -> Int64
    /// The same of deliveries of others, in the order in which what they have shown was given.
    public var standingElsewhere: [@Sendable (Int64) -> Int64]
    /// What there is no order for, as a sentence: the store has shown two states of which none contains the other.
    public var problem: String?

    public init(
        versions: [Int64: Int64], standing: @escaping @Sendable (Int64) -> Int64,
        standingElsewhere: [@Sendable (Int64) -> Int64] = [], problem: String? = nil
    ) {
        (self.versions, self.standing) = (versions, standing)
        (self.standingElsewhere, self.problem) = (standingElsewhere, problem)
    }
}

/// Does its work in processes beside this one, which have to be counted with it.
public protocol ServedStore: DrivenStore {
    /// CPU time so far by kind of process; nil where they cannot be looked at, as on another machine. Any thread.
    func serverCPU() -> [String: Int64]?
}

/// Can be opened by processes of other hosts, which share no file system with this one.
public protocol ReachableStore: DrivenStore {
    /// What another process is given as `StoreConfiguration.address`, to open this very store. Without a password.
    var address: String { get }
    /// What it is given as `StoreConfiguration.secret`; nil: none is needed, or whoever is there has it.
    var secret: String? { get }
    /// Why a process there cannot reach the store, and what to do about it; nil: as far as is known, it can.
    func obstacle(from place: ProcessPlace) -> String?
}

/// Where a process is that is to open a store, as seen from the one that has made it.
public enum ProcessPlace: Sendable, CaseIterable {
    /// On this machine, with the same network.
    case near
    /// On this machine, in another network: that of a container, say.
    case otherNetwork
    case otherMachine
}

/// Has a server of its own, to which things can be done that happen to servers. On the thread that has opened the store, but where it
/// says otherwise.
public protocol HarmableServer: DrivenStore {
    /// Ends the server, and starts it again with what it has kept. Returns when it can be reached.
    func restartServer() throws
    /// Ends the connections by which observers hear of changes. Any thread.
    func cutObservers() throws
    /// One more observer, which has begun to look and does not go on until the result is released. Any thread.
    func stopListener() throws -> AnyObject
    /// One transaction that writes so many rows which nobody watches; returns when it is made. Any thread.
    func commitLarge(rows: Int) throws
}

/// Keeps no rows that could be read back: only versions are checked. For stores that are none, and for nothing else.
public protocol RowlessStore: DrivenStore {}

extension RowlessStore {
    public func contents(of query: Query) throws -> [Item] { throw StoreHasNoRows() }
}

/// Thrown by a store that keeps none.
public struct StoreHasNoRows: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "the store keeps no rows: ask for versions only" }
}

/// The protocols of this file.
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
    case reachable
    case harmableServer
    case rowless

    /// Whether stores of a type have it.
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
        case .reachable: store is any ReachableStore.Type
        case .harmableServer: store is any HarmableServer.Type
        case .rowless: store is any RowlessStore.Type
        }
    }
}

extension DrivenStore {
    /// The store as one that has an ability: `try store.conforming(to: (any Pinning).self)`.
    /// - Throws: `DriverUnavailable` where it has not. Scenarios that need it are skipped before (`Capabilities`).
    public func conforming<Able>(to ability: Able.Type) throws -> Able {
        guard let able = self as? Able else { throw DriverUnavailable("the driver's store is no '\(ability)'") }
        return able
    }
}
