// A store without rows: it assigns versions and wakes observers. It shows the harness's own cost, and the time to a
// callback without an engine.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [NoopDriver()]

/// Opens stores without rows. Deliveries carry versions and no change sets.
public struct NoopDriver: StoreDriver {
    public init() {}

    public var name: String { EngineFacts.noop }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.keyKinds = Set(KeyKind.allCases)
        }
    }

    public func open(_ configuration: StoreConfiguration) -> NoopStore { NoopStore() }
}
