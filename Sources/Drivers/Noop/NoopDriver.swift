// A store that stores nothing: it hands out versions and wakes observers, and that is all. A scenario run on it shows
// what the harness itself costs and how soon a callback can come at best on this machine.
import StoreDriver

/// Opens stores without rows. Deliveries carry versions and no change sets.
public struct NoopDriver: StoreDriver {
    public init() {}

    public var name: String { "noop" }

    public var capabilities: Capabilities {
        Capabilities(
            durabilities: Set(Durability.allCases), keyKinds: Set(KeyKind.allCases), canDeliverOnRunLoop: true,
            canDeliverOnQueue: true, hasChangeSets: false, hasVersions: true, persists: false, hasContents: false,
            canCallOnSite: true)
    }

    public func open(_ configuration: StoreConfiguration) -> any DrivenStore { NoopStore() }
}

/// Asked for rows, which a no-op store does not have.
public struct NoopStoreHasNoRows: Error, CustomStringConvertible {
    public var description: String { "the no-op store keeps no rows: ask for versions only" }
}
