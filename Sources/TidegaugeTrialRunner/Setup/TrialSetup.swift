// The first half of a trial: a store with its rows, and observers that have each been called.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The environment of a trial's writers and companions. Used on the conducting thread.
struct TrialSetup {
    /// The spec as the load sees it.
    let spec: TrialSpec
    let driver: any StoreDriver
    let store: any DrivenStore
    let directory: String
    let dataset: Dataset
    let plan: QueryAssignment
    let group: ObserverGroup
    /// Companions that existed before the first measured observer.
    let companions: [any Companion]
    /// Hosts of remote writers and observers, as many as the spec asks for; this machine alone if it asks for none.
    let hosts: [HostEntry]

    /// - Parameter hosts: the available hosts.
    init(
        _ asked: TrialSpec, _ driver: any StoreDriver, directory: String, hosts: [HostEntry],
        _ report: (TrialProgress) -> Void
    ) throws {
        try CapabilityCheck.check(asked, driver.capabilities)
        spec = asked.underLoad
        self.hosts = try HostEntry.all(of: asked, among: hosts)
        (self.driver, self.directory) = (driver, directory)
        dataset = Dataset(spec)

        report(.init(.loading))
        var configuration = StoreConfiguration(asked, directory: directory)
        (configuration.server.guests, configuration.server.reachedAt) = (
            asked.hosts ?? 0, self.hosts.first?.serverAddress
        )
        let opened = try driver.open(configuration)
        let injected = InjectedFault(asked.fault)
        store = injected.wrap(asked.shim?.wrap(opened) ?? opened)
        try store.load(count: dataset.count) { [dataset] in dataset.item(at: $0) }
        let coTenant = try CoTenantStore(asked, driver, configuration)

        let shelf = try OpenedStore(asked, driver, configuration, dataset)

        report(.init(.subscribing))
        let cancelled = try CancelledObservers(asked, store)
        plan = QueryAssignment(spec)
        let holder = try spec.observers.subscribe == .locked ? LockHolder(store, spec.hangTimeoutNs) : nil
        group = try ObserverGroup(spec, plan, store, sampling: driver.capabilities, opening: shelf)
        try group.awaitInitialDeliveries()
        try holder?.release()
        let made: [(any Companion)?] = [injected, cancelled, coTenant]
        companions = made.compactMap { $0 }
    }
}

extension TrialSpec {
    /// The spec as the writers and the lasting observers see it.
    fileprivate var underLoad: TrialSpec {
        var spec = self
        // The killed writer and its successor.
        if fault.kind == .writerKilled { spec.writers.threads = 2 }
        spec.writers.threads = spec.writers.count
        if observers.subscribe == .cancelled {
            (spec.observers.count, spec.observers.idleQueries, spec.observers.calls) = (0, 0, .none)
        }
        return spec
    }
}

extension HostEntry {
    /// Returns the hosts of a trial's writers and observers: processes of this machine if no hosts are given, one if
    /// the spec asks for none.
    fileprivate static func all(of spec: TrialSpec, among hosts: [HostEntry]) throws -> [HostEntry] {
        guard let count = spec.hosts else { return [.here] }
        if hosts.isEmpty { return (0..<count).map { HostEntry(name: "here-\($0)") } }
        guard count <= hosts.count else {
            throw TrialFault.refused(
                "the trial needs \(count) hosts, and there are \(hosts.count) (add hosts to the file of '--hosts')")
        }
        return Array(hosts.prefix(count))
    }
}
