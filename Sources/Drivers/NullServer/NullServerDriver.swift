// A server that keeps nothing: it numbers what writers send it, answers each, and sends it on to who watches, over the transport that a
// server's drivers use. A scenario on it shows what the harness and the way to a server and back cost, without any server.
import TidegaugeDriver

/// Opens stores without rows. Deliveries carry versions and no change sets.
public struct NullServerDriver: StoreDriver {
    public init() {}

    public var name: String { "null-server" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: false) {
            $0.upkeepThreadPrefixes = ["null-"]
            $0.emptyDriver = name
            $0.remarks = [
                "an echo, served by a thread of this process over a socket: what a server would have to do is left out"
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
