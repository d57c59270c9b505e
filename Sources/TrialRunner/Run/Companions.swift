// The companions that a trial has, made from its spec. They are begun in the order of the list and ended in the opposite one, so
// that clocks and counters, which all others would disturb, are opened last and read first.
import Measure
import Scenario
import StoreDriver

/// All companions of one trial, the writers among them. The conducting thread.
struct Companions {
    let work: any WritingSide
    private let setup: TrialSetup
    private let all: [any Companion]

    /// Makes them, observers that come and go and processes of their own included. No commit has been made yet.
    init(_ setup: TrialSetup) throws {
        self.setup = setup
        let (spec, store, watch) = (setup.spec, setup.store, setup.watch)
        let audit = try Audit(spec, setup.dataset, watch, store, setup.driver.capabilities)
        let churn = try Churn(spec, setup.plan, store)
        let floor = spec.metrics.contains(where: \.needsWakeProbe) ? try WakeProbe() : nil
        let stalls = try StallProbe(spec, store, watch)
        let work = try Self.writers(setup, .init(floor: floor, stalls: stalls, watch: watch))
        self.work = work
        let made: [(any Companion)?] = [
            audit,
            HarnessCost(spec),
            try VersionMeter(spec, store),
            stalls,
            floor,
            try Self.injected(setup),
            work,
            NoiseMeter(),
            HoldingsMeter(spec, store, work),
            churn,
            spec.metrics.contains(where: \.countsAllocations) ? AllocationWindow(work, watch) : nil,
            CPUWindow(setup.driver, work),
        ]
        all = setup.companions + made.compactMap { $0 }
    }

    /// What is done on purpose.
    private static func injected(_ setup: TrialSetup) throws -> (any Companion)? {
        switch setup.spec.fault.injection {
        case .stall(let atNs, let lengthNs): Stall(atNs: atNs, lengthNs: lengthNs)
        case .observerKilled(let atNs): try KilledObserver(setup.spec, atNs: atNs, directory: setup.directory)
        case .diskFull(let atNs, let lengthNs): FullDisk(atNs: atNs, lengthNs: lengthNs, directory: setup.directory)
        case .slowFsync(let lengthNs): SlowFlushes(lengthNs: lengthNs)
        case .clockStep(let atNs): ClockStep(atNs: atNs)
        // These are up to the store's wrapper and to the writing side.
        case .none, .slowdown, .loss, .reorder, .writerKilled, .writerStopped: nil
        }
    }

    private static func writers(_ setup: TrialSetup, _ company: Writer.Company) throws -> any WritingSide {
        switch setup.spec.writers.process {
        case .own: RemoteWork(setup.spec, setup.dataset, setup.plan, setup.store, directory: setup.directory)
        case .same: try Work(setup.spec, setup.dataset, setup.plan, setup.store, company)
        }
    }

    /// Tells all of a moment.
    func tell(_ moment: (any Companion) throws -> Void) rethrows { for companion in all { try moment(companion) } }

    func end(into findings: inout Findings) throws {
        for companion in all.reversed() { try companion.end(into: &findings) }
    }

    /// Ends the subscriptions, the store and the sites.
    /// - Parameter logs: what observers had been told until then.
    func close(_ logs: [ObserverLog], into findings: inout Findings) throws {
        findings.violations += try Silence.check(setup.store, setup.watch, logs) {
            for companion in all.reversed() { try companion.cancel() }
        }
        for companion in all.reversed() { try companion.close(into: &findings) }
    }
}
