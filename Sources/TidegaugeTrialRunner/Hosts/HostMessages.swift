// What frames hold: who an agent is, what it is to do, what it says in the end. Values only.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The agent's first word.
struct HostHello: Codable, Sendable, Equatable {
    var specVersion = TrialSpec.currentVersion
    /// SHA-256 of the agent's file; nil unless it was asked to describe itself.
    var binarySHA: String?
    var clock: ClockName
    /// Of its kernel's networks the one that it is in; nil where the kernel does not say.
    var network: String? = Self.currentNetwork
    /// Cores that it may run on.
    var cores: Int

    static var currentNetwork: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
    }

    /// As seen from this process.
    var place: ProcessPlace {
        if clock.bootID != ClockName.current().bootID { return .otherMachine }
        return network == Self.currentNetwork ? .near : .otherNetwork
    }
}

/// What a process of a host does in a trial.
struct HostOrder: Codable, Sendable {
    enum Role: Codable, Sendable {
        /// Commits what writers `first` ..< `first + count` would, from the due time after so many.
        case writers(first: Int, count: Int, dueTimesDone: Int)
        /// Observes the first query until it is killed.
        case observer
    }

    var spec: TrialSpec
    var role: Role
    var storeDirectory: String
    /// See `StoreConfiguration.address`.
    var storeAddress: String?
    /// See `StoreConfiguration.secret`.
    var storeSecret: String?
    /// Whether there are as many observers as in the trial's process beside the writers, of whom there may be none.
    var observes = false
    /// Where the agent reads what writers have committed, in their order.
    var recordFiles: [String] = []

    var writers: Range<Int> {
        if case .writers(let first, let count, _) = role { first..<first + count } else { 0..<0 }
    }
}

/// What an agent does to the process that it has started, and when on its clock.
struct HostFault: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case kill, stop }

    var kind: Kind
    var atNs: Int64
    /// Of a stop.
    var lengthNs: Int64 = 0
}

/// That it is done.
struct HostFaultReport: Codable, Sendable {
    var kind: HostFault.Kind
    var hitNs: Int64
    var releasedNs: Int64?
    /// Commits of the first writer that had returned when it was killed, and the last of them.
    var committed = 0
    var lastVersion: Int64?
    var lastCommittedNs: Int64?
}

/// What a process of a host says when it is through.
struct HostReport: Codable, Sendable {
    enum Failure: Codable, Sendable {
        case hang(String)
        case store(String)
        case harness(String)

        init(_ error: any Error) {
            switch TrialFault(error) {
            case .hang(let reason): self = .hang(reason)
            case .harness(let reason): self = .harness(reason)
            case .store(let reason), .refused(let reason), .unavailable(let reason), .host(let reason):
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
    /// Of the machine; nil unless the agent was asked to describe itself.
    var environment: EnvironmentReport?
}

extension StoreConfiguration {
    /// valgrind has no room for larger maps.
    private static let countedMapBytes = 4 << 30

    /// As a trial asks for it.
    init(_ spec: TrialSpec, directory: String) {
        self.init(
            directory: directory, durability: DurabilityLevel(rawValue: spec.durability)!,
            keys: KeyKind(rawValue: spec.dataset.keys.rawValue)!, links: spec.dataset.links,
            hasList: spec.observers.sort == .list, rows: RowShape(spec), operators: spec.observers.operators,
            readsFirst: spec.observers.subscribe == .readFirst,
            mapBytes: spec.count == nil ? nil : Self.countedMapBytes, isCounted: spec.count != nil)
        server = ServerConfiguration(spec)
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
