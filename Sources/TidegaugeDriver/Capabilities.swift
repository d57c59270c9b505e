// Capabilities that scenarios are checked against: the abilities of a driver's store and facts that no method
// expresses.

/// Behaviour of an engine that no method expresses.
public struct EngineFacts: Sendable {
    /// Data that a callback can read at its version.
    public enum Shown: Sendable {
        /// No data. Rows are read later, at the version that is then current.
        case nothing
        /// Keys of the rows, in order.
        case keys
        /// Complete rows.
        case rows
    }

    // MARK: Supported store configurations

    public var durabilities: Set<DurabilityLevel>
    public var keyKinds: Set<KeyKind> = [.ascending]
    /// Whether data is stored on a disk.
    public var persists: Bool
    /// Whether rows can also be kept in a list with an explicit order (`StoreConfiguration.hasList`).
    public var hasLists = false
    /// Highest number of links that change detection follows (`StoreConfiguration.links`); 0: none.
    public var deepestLinks = 0
    /// Whether it has publishers that operators can be applied to (`StoreConfiguration.publisherChainLength`).
    public var hasPublishers = false
    /// Whether a subscription can read its query before it observes it (`StoreConfiguration.readsFirst`).
    public var canReadFirst = false
    /// Whether several processes can open one store and notify one another of commits.
    public var isShared = false

    // MARK: How it delivers

    public var sites = Set(DeliverySite.Kind.allCases)
    /// Whether deliveries carry index lists.
    public var hasChangeSets: Bool
    /// Whether commits and deliveries carry versions. Without them, all trials but interleaving tests are skipped.
    public var hasVersions = true
    /// Data that the oracle, the model that checks callbacks, may read inside them (`DriverSubscription.forEachShown`)
    /// and compare with the claimed version.
    public var shows = Shown.rows
    /// Whether all subscriptions of a delivery context advance together: none is called at an older version after
    /// another was called at a newer one.
    public var advancesTogether = true
    /// Whether a delivery may come though no row of the result was written.
    public var repeatsRows = false
    /// Whether subscribing and deliveries on other threads continue while a writer holds the write lock.
    public var readsBesideWriter = true

    // MARK: For people and reports

    /// Name of the driver that keeps no rows and only assigns versions and wakes observers. Every command line has it.
    public static let noop = "noop"

    /// Name of a driver without an engine that delivers in the same way. The harness's own cost is measured on it, or
    /// on `noop` if the program lacks it. A driver that names itself has no engine.
    public var emptyDriver = EngineFacts.noop
    /// Remarks to know before comparing figures: short phrases for people.
    public var remarks: [String] = []
    /// Prefixes of the names of the engine's background threads (as in `/proc/self/task/*/comm`). Their CPU time is
    /// reported as that of the role `upkeep`.
    public var upkeepThreadPrefixes: [String] = []

    /// - Parameter change: sets the facts that differ from their defaults.
    public init(
        durabilities: Set<DurabilityLevel>, persists: Bool, hasChangeSets: Bool,
        change: (inout EngineFacts) -> Void = { _ in }
    ) {
        (self.durabilities, self.persists, self.hasChangeSets) = (durabilities, persists, hasChangeSets)
        change(&self)
    }
}

/// The capabilities of an engine. A scenario that needs more is reported as skipped, with the reason.
@dynamicMemberLookup
public struct Capabilities: Sendable {
    public var facts: EngineFacts
    public let abilities: Set<Ability>

    /// - Parameter store: type of the driver's stores.
    public init(_ facts: EngineFacts, of store: any DrivenStore.Type) {
        self.facts = facts
        abilities = Set(Ability.allCases.filter { $0.isHeld(by: store) })
    }

    public func can(_ ability: Ability) -> Bool { abilities.contains(ability) }

    /// Whether rows can be read back.
    public var hasContents: Bool { !can(.rowless) }

    public subscript<Value>(dynamicMember fact: WritableKeyPath<EngineFacts, Value>) -> Value {
        get { facts[keyPath: fact] }
        set { facts[keyPath: fact] = newValue }
    }
}

extension StoreDriver {
    /// Whether the driver has no engine, so that only the harness is measured.
    public var isEmpty: Bool { facts.emptyDriver == name }

    /// The driver's facts and the abilities of its store type.
    public var capabilities: Capabilities { Capabilities(facts, of: Opened.self) }
}
