// Driver of PostgreSQL as an application with live queries uses it (PostgresWay.swift). It queries again at intervals
// or after signals, or receives every commit from the server's log.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = PostgresDriver.all

public struct PostgresDriver: StoreDriver {
    public typealias Way = PostgresWay

    private let way: Way

    public init(_ way: Way) { self.way = way }

    /// One driver for each strategy of `PostgresWay.all`.
    public static let all = Way.all.map { PostgresDriver($0) }

    public var name: String { way.driverName }

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: false, hasChangeSets: way == .wal) {
            $0.upkeepThreadPrefixes = ["pg-"]
            $0.emptyDriver = "null-server"
            $0.remarks = [
                "a server of its own, by a socket of the file system unless 'server.transport' says otherwise; its CPU time is part "
                    + "of the figures",
                "one thread of the process queries for all observers, and calls those whose rows changed",
                "'memory' is a cluster on tmpfs without fsync", way.remark,
            ]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> PostgresStore {
        try PostgresStore(configuration, way)
    }
}
