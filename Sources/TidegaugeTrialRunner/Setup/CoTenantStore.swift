// A co-tenant: a second store of the same engine in the same process. A separate writer commits to it as fast as
// possible, and a separate observer watches it. It should not affect the trial's figures.
import Foundation
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeSpec
import TidegaugeTrial

final class CoTenantStore: Companion {
    private static let items = 20_000

    private let store: any DrivenStore
    private let site: DeliveryContext
    private let subscription: any DriverSubscription
    private let thread: TracedThread
    private let state = State()

    private final class State: Sendable {
        let isStopped = Atomic<Bool>(false)
        let commits = Atomic<Int>(0)
        let fault = Guarded<(any Error)?>("co-tenant's fault", nil)
    }

    /// A sink that ignores its deliveries.
    private final class Deaf: DeliverySink {
        func deliver(_ delivery: borrowing Delivery) {}
        func fail(_ error: any Error) {}
    }

    init?(_ spec: TrialSpec, _ driver: any StoreDriver, _ configuration: StoreConfiguration) throws {
        guard spec.dataset.coTenant == .busy else { return nil }
        var spec = spec
        let blank = TrialSpec.blank
        (spec.dataset, spec.observers, spec.writers) = (blank.dataset, blank.observers, blank.writers)
        spec.workload = nil
        spec.dataset.items = Self.items
        (spec.observers.count, spec.observers.threads, spec.observers.match) = (1, 1, 0.5)
        spec.observers.sort = .scoreDescending
        (spec.writers.threads, spec.writers.rowsPerCommit, spec.writers.load) = (1, 1, .closed)
        spec.writers.changes = [WritersSpec.ChangeKind.updateScore.rawValue: 1]
        var configuration = configuration
        configuration.directory += "/co-tenant"
        configuration.links = 0
        configuration.hasList = false
        configuration.rows = .plain
        try FileManager.default.createDirectory(atPath: configuration.directory, withIntermediateDirectories: true)
        let store = try driver.open(configuration)
        let dataset = Dataset(spec)
        try store.load(count: dataset.count) { dataset.item(at: $0) }
        let plan = QueryAssignment(spec.observers, items: spec.dataset.items)
        let query = plan.queries[0]
        let site = DeliveryContext("co-tenant-site", .runLoop)
        self.site = site
        subscription = try site.run(timeoutNs: spec.hangTimeoutNs) {
            try store.subscribe(to: query, at: site.deliverySite, sink: Deaf())
        }
        self.store = store
        let generator = ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: 0)
        thread = TracedThread("co-tenant") { [state] in Self.write(store, generator, state) }
    }

    private static func write(_ store: any DrivenStore, _ generator: ChangeGenerator, _ state: State) {
        var generator = generator
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        do {
            let writer = try store.makeWriter()
            while !state.isStopped.load(ordering: .relaxed) {
                _ = try writer.commit(generator.fill(changes), locked: {})
                state.commits.add(1, ordering: .relaxed)
            }
        } catch {
            state.fault.withLock { $0 = error }
        }
    }

    func end(into findings: inout Findings) throws {
        state.isStopped.store(true, ordering: .relaxed)
        thread.join()
        subscription.cancel()
        try store.close()
        site.stop()
        if let fault = state.fault.withLock({ $0 }) {
            throw TrialFault.store("the co-tenant store failed: \(fault)")
        }
        findings.counts["co_tenant_commits"] = state.commits.load(ordering: .relaxed)
    }
}
