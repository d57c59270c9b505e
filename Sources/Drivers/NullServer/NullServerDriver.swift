// A server that keeps nothing. It numbers what writers send, answers each, and forwards it to watching clients, over
// a Unix socket or TCP. It shows the cost of the harness and of a server's round trip.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [NullServerDriver()]

/// Opens stores without rows. Deliveries carry versions and no change sets.
public struct NullServerDriver: StoreDriver {
    public init() {}

    public var name: String { "null-server" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.upkeepThreadPrefixes = ["null-"]
            $0.emptyDriver = name
            $0.remarks = [
                "a thread of this process that echoes over a socket, without the work of a server"
            ]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> NullServerStore {
        let server = configuration.server
        if let url = server.url {
            throw DriverUnavailable("a null server is the trial's own: it is not found at \(url)")
        }
        if server.standbyNs > 0 { throw DriverUnavailable("a null server has no standby: leave out 'server.standby'") }
        return try NullServerStore(server)
    }
}
