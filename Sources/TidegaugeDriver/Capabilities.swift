// What scenarios are held against: the abilities that a driver's store conforms to, and the facts that are no method.

/// How an engine behaves, where no method shows it.
public struct EngineFacts: Sendable {
    /// What a callback has in its hands of the rows at its version.
    public enum Shown: Sendable {
        /// That something has changed; rows are read later, at whatever version there is then.
        case nothing
        /// Their keys, in their order.
        case keys
        /// All of them.
        case rows
    }

    // MARK: What a store can be opened with

    public var durabilities: Set<DurabilityLevel>
    public var keyKinds: Set<KeyKind> = [.ascending]
    /// Keeps what it is told on a disk.
    public var persists: Bool
    /// Keeps rows in a list with an order of its own, too (`StoreConfiguration.hasList`).
    public var hasLists = false
    /// Most links that change detection looks through (`StoreConfiguration.links`); 0: it has none.
    public var deepestLinks = 0
    /// Has publishers, on which operators can stand (`StoreConfiguration.operators`).
    public var hasPublishers = false
    /// A subscription can read what it will watch before it observes it (`StoreConfiguration.readsFirst`).
    public var canReadFirst = false
    /// Several processes can have one store open, and tell one another of commits.
    public var isShared = false

    // MARK: How it delivers

    public var sites = Set(DeliverySite.Kind.allCases)
    /// Deliveries carry index lists; without them, as of an engine that hands out whole values, only the data is checked.
    public var hasChangeSets: Bool
    /// Commits and deliveries carry versions; without them coverage is read from the rows' stamps.
    public var hasVersions = true
    /// What the oracle may read inside callbacks (`DriverSubscription.forEachShown`) and compare with the version they claim.
    public var shows = Shown.rows
    /// All subscriptions of a site go to a version together: none is called at an older one after another was called at a
    /// newer. Without it each has its own pace, and what two queries show of one transaction is not compared.
    public var advancesTogether = true
    /// Observers are delivered to while a writer holds the write lock.
    public var readsBesideWriter = true

    // MARK: For people and reports

    /// The driver of a store that does nothing over the same way to its callers: what the harness costs is read beside it, where a
    /// program has it.
    public var emptyDriver = "noop"
    /// What to know before comparing figures: short phrases for people.
    public var remarks: [String] = []
    /// Names (as in `/proc/self/task/*/comm`) that the engine's own background threads start with: the `upkeep` role.
    public var upkeepThreadPrefixes: [String] = []

    /// - Parameter change: says what is otherwise than most engines have it.
    public init(
        durabilities: Set<DurabilityLevel>, persists: Bool, hasChangeSets: Bool,
        change: (inout EngineFacts) -> Void = { _ in }
    ) {
        (self.durabilities, self.persists, self.hasChangeSets) = (durabilities, persists, hasChangeSets)
        change(&self)
    }
}

/// What an engine can do. A scenario that asks for more is listed as skipped with the reason, never run.
@dynamicMemberLookup
public struct Capabilities: Sendable {
    public var facts: EngineFacts
    public let abilities: Set<Ability>

    /// - Parameter store: what is opened.
    public init(_ facts: EngineFacts, of store: any DrivenStore.Type) {
        self.facts = facts
        abilities = Set(Ability.allCases.filter { $0.isHeld(by: store) })
    }

    public func can(_ ability: Ability) -> Bool { abilities.contains(ability) }

    /// Keeps rows that can be read back. Without them only versions are checked.
    public var hasContents: Bool { !can(.rowless) }

    public subscript<Value>(dynamicMember fact: WritableKeyPath<EngineFacts, Value>) -> Value {
        get { facts[keyPath: fact] }
        set { facts[keyPath: fact] = newValue }
    }
}

extension StoreDriver {
    /// The facts it states, and the abilities that its store conforms to.
    public var capabilities: Capabilities { Capabilities(facts, of: Opened.self) }
}
