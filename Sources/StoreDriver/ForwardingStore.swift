// A store that stands in front of another one and changes some of what it is asked for. What it does not write down itself
// goes through: all of it, so that no request ends at the defaults of `DrivenStore`, which say that a driver cannot do it.

/// Every request is passed on to `store`; a conforming type writes down those that it changes.
public protocol ForwardingStore: DrivenStore {
    /// The one behind.
    var store: any DrivenStore { get }
}

extension ForwardingStore {
    public func load(count: Int, item: (Int) -> Item) throws { try store.load(count: count, item: item) }
    public func makeWriter() throws -> any StoreWriter { try store.makeWriter() }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any Subscription {
        try store.subscribe(to: query, at: site, sink: sink)
    }

    public func forget(_ site: DeliverySite) throws { try store.forget(site) }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        try store.call(call, at: site, granted: granted)
    }

    public func read(_ body: () throws -> Void) throws { try store.read(body) }

    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        try store.writeLater(changes, at: site, within: within)
    }

    public func contents(of query: Query) throws -> [Item] { try store.contents(of: query) }
    public func fileBytes() throws -> Int { try store.fileBytes() }
    public func compactedBytes() throws -> Int { try store.compactedBytes() }
    public func activeVersions() throws -> Int { try store.activeVersions() }
    public func pin() throws -> AnyObject { try store.pin() }
    public func close() throws { try store.close() }
}
