// A store that wraps another store and its writers and sinks. It conforms to each of the wrapped store's abilities
// (`Ability`), but not to `RenumberedStore`.
import Foundation

public final class ForwardingStore<Base: DrivenStore>: DrivenStore {
    private let base: Base
    private let writer: @Sendable (any StoreWriter) -> any StoreWriter
    private let sink: @Sendable (any DeliverySink) -> any DeliverySink

    /// - Parameters:
    ///   - writer: wraps each new writer, on the writer's thread.
    ///   - sink: wraps the sink of each subscription, on its delivery context.
    public init(
        _ base: Base, writer: @escaping @Sendable (any StoreWriter) -> any StoreWriter = { $0 },
        sink: @escaping @Sendable (any DeliverySink) -> any DeliverySink = { $0 }
    ) {
        (self.base, self.writer, self.sink) = (base, writer, sink)
    }

    public func load(count: Int, item: (Int) -> Item) throws { try base.load(count: count, item: item) }
    public func makeWriter() throws -> any StoreWriter { writer(try base.makeWriter()) }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        try base.subscribe(to: query, at: site, sink: self.sink(sink))
    }

    public func contents(of query: Query) throws -> [Item] { try base.contents(of: query) }
    public func fileBytes() throws -> Int { try base.fileBytes() }
    public func close() throws { try base.close() }
}

extension ForwardingStore: CallableOnSite where Base: CallableOnSite {
    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        try base.call(call, at: site, granted: granted)
    }
}

extension ForwardingStore: TransactionalReading where Base: TransactionalReading {
    public func read(_ body: () throws -> Void) throws { try base.read(body) }
}

extension ForwardingStore: AsynchronousWriting where Base: AsynchronousWriting {
    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        try base.writeLater(changes, at: site, within: within)
    }
}

extension ForwardingStore: Pinning where Base: Pinning {
    public func pin() throws -> any HeldVersion { try base.pin() }
    public func activeVersions() throws -> Int { try base.activeVersions() }
}

extension ForwardingStore: Compacting where Base: Compacting {
    public func compactedBytes() throws -> Int { try base.compactedBytes() }
}

extension ForwardingStore: SiteForgetting where Base: SiteForgetting {
    public func forget(_ site: DeliverySite) throws { try base.forget(site) }
}

extension ForwardingStore: WholeRowStore where Base: WholeRowStore {
    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws {
        try base.forEachRow(of: query, body)
    }
}

extension ForwardingStore: AnsweringStore where Base: AnsweringStore {}

extension ForwardingStore: LateVersions where Base: LateVersions {
    public func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        try base.order(ofCommits: commits, alsoShown: others)
    }
    public func shown() throws -> Data { try base.shown() }
    public func shows(delivery: Int64, commit: Int64) -> Bool { base.shows(delivery: delivery, commit: commit) }
}

extension ForwardingStore: ServedStore where Base: ServedStore {
    public func serverCPU() -> [String: Int64]? { base.serverCPU() }
}

extension ForwardingStore: WorkCounting where Base: WorkCounting {
    public func counters() throws -> [String: Int] { try base.counters() }
    public func asleepElsewhereNs() -> Int64? { base.asleepElsewhereNs() }
}

extension ForwardingStore: HarmableServer where Base: HarmableServer {
    public func restartServer() throws { try base.restartServer() }
    public func cutObservers() throws { try base.cutObservers() }
    public func stopListener() throws -> AnyObject { try base.stopListener() }
    public func commitLarge(rows: Int) throws { try base.commitLarge(rows: rows) }
}

extension ForwardingStore: RowlessStore where Base: RowlessStore {}

extension DrivenStore {
    /// Returns a store that forwards to this one.
    public func forwarded(
        writer: @escaping @Sendable (any StoreWriter) -> any StoreWriter = { $0 },
        sink: @escaping @Sendable (any DeliverySink) -> any DeliverySink = { $0 }
    ) -> any DrivenStore {
        ForwardingStore(self, writer: writer, sink: sink)
    }
}

extension ForwardingStore: ReachableStore where Base: ReachableStore {
    public var address: String { base.address }
    public var secret: String? { base.secret }
    public func obstacle(from place: ProcessPlace) -> String? { base.obstacle(from: place) }
}
