// Checks whether a driver can run a trial. The parent skips trials that cannot run; the child checks again and refuses
// them.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

public enum CapabilityCheck {
    private static let noCalls = "it cannot be called on an observing thread"

    /// Returns why a driver with `capabilities` cannot run `spec`, as a sentence, or nil if it can.
    public static func obstacle(_ spec: TrialSpec, _ capabilities: Capabilities) -> String? {
        guard let durability = DurabilityLevel(rawValue: spec.durability) else {
            return "durability '\(spec.durability)' is none of full, relaxed, memory"
        }
        if !capabilities.durabilities.contains(durability) { return "it has no durability '\(spec.durability)'" }
        guard let keys = KeyKind(rawValue: spec.dataset.keys.rawValue), capabilities.keyKinds.contains(keys) else {
            return "it has no '\(spec.dataset.keys.rawValue)' keys"
        }
        let isCountedByEngine = spec.count?.counter == InstructionCounter.engine.rawValue
        if isCountedByEngine, !capabilities.can(.workCounting) { return "it does not count its own work" }
        if spec.count != nil, !isCountedByEngine, capabilities.can(.served) {
            return "it has no counted form, because the work of another process is not counted"
        }
        if spec.count != nil, let obstacle = spec.countObstacle { return "it has no counted form: \(obstacle)" }
        if let play = spec.interleaving { return obstacle(play, capabilities) }
        let observers = spec.observers
        if observers.calls != .none, !capabilities.can(.callableOnSite) { return noCalls }
        if observers.subscribe == .locked, !capabilities.readsBesideWriter {
            return "its observers wait while a writer holds the lock, and could not subscribe meanwhile"
        }
        if observers.count + observers.idleQueries > 0,
            let obstacle = obstacle(observers.deliver == .runLoop ? [.runLoop] : [.queue], capabilities)
        {
            return obstacle
        }
        if let obstacle = shape(spec, capabilities) ?? reads(observers.reads, capabilities) { return obstacle }
        return capabilities.hasVersions
            ? nil : "it has no versions, so the harness cannot tell which callback covers which commit"
    }

    private static func obstacle(_ sites: Set<DeliverySite.Kind>, _ capabilities: Capabilities) -> String? {
        if sites.contains(.runLoop), !capabilities.sites.contains(.runLoop) { return "it cannot deliver on a run loop" }
        return sites.contains(.queue) && !capabilities.sites.contains(.queue) ? "it cannot deliver on a queue" : nil
    }

    private static func obstacle(_ play: InterleavingSpec, _ capabilities: Capabilities) -> String? {
        let places = play.actors.map(\.place)
        let sites = DeliverySite.Kind.allCases.filter { places.contains($0 == .runLoop ? .runLoop : .queue) }
        if let obstacle = obstacle(Set(sites), capabilities) { return obstacle }
        let steps = play.actors.flatMap(\.allSteps)
        let calls = steps.contains(.beginWrite) || steps.contains(.refresh)
        if calls, !capabilities.can(.callableOnSite) { return noCalls }
        for step in steps {
            switch step {
            case .read where !capabilities.can(.transactionalReading):
                return "it cannot read in steps of an interleaving test"
            case .writeLater where !capabilities.can(.asynchronousWriting):
                return "it has no asynchronous writes"
            default: break
            }
        }
        return nil
    }

    /// Returns the obstacle in settings that no other function here checks, such as rows, server, hosts or fault, or
    /// nil.
    private static func shape(_ spec: TrialSpec, _ capabilities: Capabilities) -> String? {
        if spec.observers.sort == .list, !capabilities.hasLists { return "it has no lists" }
        if spec.dataset.links > capabilities.deepestLinks {
            return capabilities.deepestLinks == 0
                ? "its observers are not told of changes behind links"
                : "its observers are told of changes behind \(capabilities.deepestLinks) links at most"
        }
        if !RowShape(spec).isPlain, !capabilities.can(.wholeRows) {
            return "its rows are four numbers each, in one table"
        }
        if spec.observers.publisherChainLength > 0, !capabilities.hasPublishers { return "it has no publishers" }
        if spec.observers.subscribe == .readFirst, !capabilities.canReadFirst {
            return "it reads nothing on an observing thread before it observes"
        }
        if spec.asksForServer, !capabilities.can(.served) { return "it has no server" }
        if spec.observers.heldSnapshots > 0, !capabilities.can(.pinning) { return "it holds no versions" }
        if spec.writers.hosts != nil, !capabilities.isShared, !capabilities.can(.reachable) {
            return "no process of another host can open its store"
        }
        if spec.writers.process == .own || spec.fault.kind.needs == .sharedStore, !capabilities.isShared {
            return "it cannot notify one process of another one's commits"
        }
        switch spec.fault.kind.needs {
        case .files where !capabilities.persists: return "it keeps nothing on a disk"
        case .checkedDeliveries where !capabilities.hasChangeSets:
            return "it has no change sets, so a lost delivery cannot be distinguished from a merged one"
        case .ownServer where !capabilities.can(.harmableServer):
            return "it has no server"
        case nil, .ownWriters, .sharedStore, .files, .checkedDeliveries, .ownServer: return nil
        }
    }

    private static func reads(_ reads: ObserversSpec.Reads?, _ capabilities: Capabilities) -> String? {
        switch reads {
        case nil, .some(.none): nil
        case .open:
            capabilities.persists && capabilities.hasContents ? nil : "it keeps no store that could be opened again"
        case .lookup, .count, .sum, .window, .iterate:
            capabilities.can(.answering) ? nil : "its callbacks cannot read more than they are given"
        }
    }

    package static func check(_ spec: TrialSpec, _ capabilities: Capabilities) throws {
        if spec.specVersion != TrialSpec.currentVersion {
            throw TrialFault.refused(
                "the spec has version \(spec.specVersion), this binary reads version \(TrialSpec.currentVersion): "
                    + "run both sides with a binary of the same spec version")
        }
        if let obstacle = obstacle(spec, capabilities) { throw TrialFault.refused("\(spec.driver): \(obstacle)") }
    }
}

extension RowShape {
    /// Shape of the rows of a trial.
    package init(_ spec: TrialSpec) {
        self.init(
            textCharacters: spec.dataset.textCharacters ?? 0, payloadBytes: spec.dataset.payloadBytes ?? 0,
            tables: spec.dataset.tables ?? 1, seed: spec.seed)
    }
}

extension TrialSpec {
    /// Whether the spec has settings of a server, apart from its URL.
    fileprivate var asksForServer: Bool {
        serverTransport != nil || serverListeners != nil || serverSlots != nil || serverStandbyNs != nil
    }
}
