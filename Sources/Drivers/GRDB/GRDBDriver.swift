// Driver of GRDB (groue/GRDB.swift), as a pool of connections on a WAL file or as one connection in memory. Observers
// are `ValueObservation`s of a constant region.
import Foundation
import GRDB
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [GRDBDriver(.pool), GRDBDriver(.memory)]

#if !GRDB
    #error("GRDBDriver needs trait GRDB of the package tidegauge: add it to `traits:` of the dependency")
#endif

public struct GRDBDriver: StoreDriver {
    public enum Engine: Sendable {
        /// `DatabasePool`: one writer, concurrent readers, a WAL file.
        case pool
        /// `DatabaseQueue` in memory: one connection that writers and observers share.
        case memory
    }

    private static let busySeconds = 5.0

    private let engine: Engine

    public init(_ engine: Engine) { self.engine = engine }

    public var name: String {
        switch engine {
        case .pool: "grdb-pool"
        case .memory: "grdb-memory"
        }
    }

    public var facts: EngineFacts {
        EngineFacts(
            durabilities: engine == .pool ? Set(DurabilityLevel.allCases) : [.memory], persists: engine == .pool,
            hasChangeSets: false
        ) {
            $0.shows = .keys
            $0.hasLists = true
            $0.advancesTogether = false
            $0.repeatsRows = true
            $0.readsBesideWriter = engine == .pool
            $0.remarks = ["an observation is run again as a whole when any row of its table changed"]
            switch engine {
            case .pool: $0.remarks += ["the initial value is delivered twice", "'memory' is a WAL file on tmpfs"]
            case .memory:
                $0.remarks += ["it is run inside the commit, so read write_to_callback beside delivery_latency"]
            }
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> DrivenDatabase {
        let table = ShapedTable(configuration.rows, hasList: configuration.hasList)
        switch engine {
        case .memory: return try DrivenDatabase(try DatabaseQueue(), directory: nil, table)
        case .pool:
            var settings = Configuration()
            // A checkpoint or the opening of a reader can hold the lock briefly, even with one writer.
            settings.busyMode = .timeout(Self.busySeconds)
            // GRDB chooses WAL and NORMAL, which survive a killed process but not a power cut.
            let pool = try DatabasePool(path: configuration.directory + "/store.sqlite", configuration: settings)
            if configuration.durability == .full {
                // Set for the writer only, because only it commits.
                try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            }
            return try DrivenDatabase(pool, directory: configuration.directory, table)
        }
    }
}
