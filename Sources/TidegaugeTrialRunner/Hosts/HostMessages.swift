// Payloads of frames, and the configuration of a trial's store.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The agent's first message.
struct HostHello: Codable, Sendable, Equatable {
    var specVersion = TrialSpec.currentVersion
    /// SHA-256 of the agent's file; nil unless it was asked to describe itself.
    var binarySHA: String?
    var clock: ClockName
    /// Name of the kernel's network namespace of the process; nil if the kernel does not report it.
    var network: String? = Self.currentNetwork
    /// Number of cores that the process may use.
    var cores: Int

    static var currentNetwork: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
    }

    /// The place of the agent relative to this process.
    var place: ProcessPlace {
        if clock.bootID != ClockName.current().bootID { return .otherMachine }
        return network == Self.currentNetwork ? .near : .otherNetwork
    }
}

/// The order of a process on a host.
struct HostOrder: Codable, Sendable {
    enum Role: Codable, Sendable {
        /// Performs the commits of writers `first` ..< `first + count`, skipping the first `dueTimesDone` due times.
        case writers(first: Int, count: Int, dueTimesDone: Int)
        /// Observes the first query until the process ends.
        case observer
    }

    var spec: TrialSpec
    var role: Role
    var storeDirectory: String
    /// See `StoreConfiguration.address`.
    var storeAddress: String?
    /// See `StoreConfiguration.secret`.
    var storeSecret: String?
    /// Whether the process also has observers, as many as the trial's own process. It may have no writers.
    var observes = false
    /// Files through which the agent reads the commits, in the order of the writers.
    var recordFiles: [String] = []

    var writers: Range<Int> {
        if case .writers(let first, let count, _) = role { first..<first + count } else { 0..<0 }
    }
}

/// A fault that an agent inflicts on its worker process. Times are on the agent's clock.
struct HostFault: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case kill, stop }

    var kind: Kind
    var atNs: Int64
    /// Length of a stop in ns.
    var lengthNs: Int64 = 0
}

/// Reports that a fault has happened.
struct HostFaultReport: Codable, Sendable {
    var kind: HostFault.Kind
    var hitNs: Int64
    var releasedNs: Int64?
    /// Number of the killed writer's commits that had returned; the next two properties describe the last of them.
    var committed = 0
    var lastVersion: Int64?
    var lastCommittedNs: Int64?
}

/// The final report of a process on a host.
struct HostReport: Codable, Sendable {
    enum Failure: Codable, Sendable {
        case hang(String)
        case store(String)
        case harness(String)

        init(_ error: any Error) {
            switch TrialFault(error) {
            case .hang(let reason): self = .hang(reason)
            case .harness(let reason): self = .harness(reason)
            case .store(let reason), .refused(let reason), .unavailable(let reason), .host(let reason),
                .engine(_, let reason):
                self = .store(reason)
            }
        }

        func fault(on host: HostEntry) -> TrialFault {
            let place = host == .here ? "" : "'\(host.name)': "
            return switch self {
            case .hang(let reason): .hang(place + reason)
            case .store(let reason): .store(place + reason)
            case .harness(let reason): .harness(place + reason)
            }
        }
    }

    var failure: Failure?
    var cpu = CPUAccount()
    var noise: NoiseAccount?
    /// The environment of the machine; nil unless the agent was asked to describe itself.
    var environment: EnvironmentReport?
}

extension StoreConfiguration {
    /// Map size in bytes of a counted trial, small enough for valgrind.
    private static let countedMapBytes = 4 << 30

    /// The configuration of a trial's store.
    init(_ spec: TrialSpec, directory: String) {
        self.init(
            directory: directory, durability: DurabilityLevel(rawValue: spec.durability)!,
            keys: KeyKind(rawValue: spec.dataset.keys.rawValue)!, links: spec.dataset.links,
            hasList: spec.observers.sort == .list, rows: RowShape(spec),
            publisherChainLength: spec.observers.publisherChainLength,
            readsFirst: spec.observers.subscribe == .readFirst,
            mapBytes: spec.count == nil ? nil : Self.countedMapBytes, isCounted: spec.count != nil)
        server = ServerConfiguration(spec)
        // At most half of the trial's limit, so that a silent engine is reported before the trial counts as hung.
        silenceLimitNs = min(silenceLimitNs, spec.hangTimeoutNs / 2)
    }
}

extension ServerConfiguration {
    init(_ spec: TrialSpec) {
        self.init()
        url = spec.serverURL
        transport =
            switch spec.serverTransport {
            case nil, .unix: .unix
            case .tcp: .tcp
            }
        (listeners, slots) = (spec.serverListeners ?? 0, spec.serverSlots ?? 0)
        standbyNs = spec.serverStandbyNs ?? 0
    }
}
