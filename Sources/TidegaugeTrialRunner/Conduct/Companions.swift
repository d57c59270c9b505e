// Makes the companions of a trial from its spec. They begin in list order and end in reverse order, so that CPU clocks
// and allocation counters, which other companions would disturb, start last and are read first.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

struct Companions {
    let writing: any WritingSide
    private let setup: TrialSetup
    private let all: [any Companion]

    /// Makes the companions. Call it before the first commit.
    init(_ setup: TrialSetup) throws {
        self.setup = setup
        let spec = setup.spec
        // Before the wake probe, whose threads must not be abandoned if the engine fails here.
        let counters = try CounterWindow(setup.store)
        let audit = try Audit(setup)
        let churn = try Churn(setup)
        let floor = spec.metrics.contains(where: \.needsWakeProbe) ? try WakeProbe() : nil
        let stalls = try StallProbe(spec, setup.store, setup.group)
        let hooks = Writer.Hooks(floor: floor, stalls: stalls, group: setup.group)
        let writing: any WritingSide =
            spec.writers.process == .own || spec.writers.hosts != nil
            ? RemoteWriterGroup(setup) : try WriterGroup(setup, hooks)
        self.writing = writing
        let made: [(any Companion)?] = [
            audit,
            HarnessCost(spec),
            try VersionMeter(setup),
            stalls,
            floor,
            try Self.injected(setup),
            writing,
            counters,
            NoiseMeter(),
            HoldingsMeter(setup, writing),
            churn,
            PassingQueries(setup),
            spec.metrics.contains(where: \.countsAllocations) ? AllocationWindow(writing, setup.group) : nil,
            CPUWindow(setup.driver, setup.store, writing),
        ]
        all = setup.companions + made.compactMap { $0 }
    }

    private static func injected(_ setup: TrialSetup) throws -> (any Companion)? {
        switch setup.spec.fault.injection {
        case .stall(let atNs, let lengthNs): Stall(atNs: atNs, lengthNs: lengthNs)
        case .observerKilled(let atNs):
            try TimedFault.killedObserver(setup.spec, atNs: atNs, directory: setup.directory)
        case .diskFull(let atNs, let lengthNs):
            TimedFault.fullDisk(atNs: atNs, lengthNs: lengthNs, directory: setup.directory)
        case .slowFsync(let lengthNs): TimedFault.slowFlushes(lengthNs: lengthNs)
        case .clockStep(let atNs): TimedFault.clockStep(atNs: atNs)
        case .serverRestarted, .connectionCut, .observerStopped, .largeTransaction:
            try ServerFault(setup.spec.fault, setup.store)
        // No fault, or one that the store's wrapper or the writing side injects.
        case .none, .slowdown, .loss, .reorder, .writerKilled, .writerStopped: nil
        }
    }

    func tell(_ moment: (any Companion) throws -> Void) rethrows { for companion in all { try moment(companion) } }

    func end(into findings: inout Findings) throws {
        for companion in all.reversed() { try companion.end(into: &findings) }
    }

    /// Ends the subscriptions, the store and the delivery contexts.
    /// - Parameter logs: the observers' records so far.
    func close(_ logs: [ObserverLog], into findings: inout Findings) throws {
        findings.violations += try CancellationCheck.check(setup.store, setup.group, logs) {
            for companion in all.reversed() { try companion.cancel() }
        }
        for companion in all.reversed() { try companion.close(into: &findings) }
    }
}
