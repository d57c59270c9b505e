// What old versions cost: snapshots that are held while the load runs, how many versions the store keeps for them, and how
// much larger its file is than its content. The conducting thread.
import Measure
import Scenario
import StoreDriver

/// Pins versions and counts them.
final class VersionMeter: Companion {
    private let store: any DrivenStore
    private var window = Window(startNs: 0, endNs: 0)
    private let pins: Int
    private let isCounting: Bool
    private let isCompared: Bool
    private var pinned: [AnyObject] = []
    private var highest = 0
    private var last = 0
    private var amplification: Double?

    init(_ spec: TrialSpec, _ store: any DrivenStore, _ capabilities: Capabilities) {
        self.store = store
        pins = spec.observers.pins
        isCounting = capabilities.canPin && spec.asks { $0 == .activeVersions }
        isCompared = capabilities.canPin && spec.asks { $0 == .spaceAmplification }
    }

    func begin(_ window: Window) { self.window = window }

    /// The pins come evenly over the window.
    func look(_ nowNs: Int64) throws {
        if pinned.count < pins, nowNs >= window.startNs {
            let due = window.startNs + (window.endNs - window.startNs) * Int64(pinned.count) / Int64(pins)
            if nowNs >= due { pinned.append(try store.pin()) }
        }
        if isCounting { count(try store.activeVersions()) }
    }

    private func count(_ versions: Int) {
        last = versions
        highest = max(highest, versions)
    }

    /// Gives the versions back.
    func end(into findings: inout Findings) throws {
        if isCounting { count(try store.activeVersions()) }
        if isCompared {
            amplification = Double(try store.fileBytes()) / Double(max(1, try store.compactedBytes()))
        }
        pinned = []
        findings.probes.versions = VersionFigures(
            pins: pins, highest: isCounting ? highest : nil, last: isCounting ? last : nil,
            amplification: amplification)
    }
}
