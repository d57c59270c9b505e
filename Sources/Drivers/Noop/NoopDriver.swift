// A store that stores nothing: it hands out versions and wakes observers, and that is all. A scenario run on it shows
// what the harness itself costs and how soon a callback can come at best on this machine.
import TidegaugeDriver

/// Opens stores without rows. Deliveries carry versions and no change sets.
public struct NoopDriver: StoreDriver {
    public init() {}

    public var name: String { "noop" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.keyKinds = Set(KeyKind.allCases)
        }
    }

    public func open(_ configuration: StoreConfiguration) -> NoopStore { NoopStore() }
}
