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
    private let pinning: (any Pinning)?
    /// Whose versions are counted.
    private let counted: (any Pinning)?
    /// Whose file is compared with its content.
    private let compared: (any Compacting)?
    private var pinned: [AnyObject] = []
    private var highest = 0
    private var last = 0
    private var amplification: Double?

    init(_ spec: TrialSpec, _ store: any DrivenStore) throws {
        self.store = store
        pins = spec.observers.pins
        pinning = pins > 0 ? try store.conforming(to: (any Pinning).self) : nil
        counted = spec.metrics.contains(.activeVersions) ? store as? any Pinning : nil
        compared = spec.metrics.contains(.spaceAmplification) ? store as? any Compacting : nil
    }

    func begin(_ window: Window) { self.window = window }

    /// The pins come evenly over the window.
    func look(_ nowNs: Int64) throws {
        if let pinning, pinned.count < pins, nowNs >= window.startNs {
            let due = window.startNs + (window.endNs - window.startNs) * Int64(pinned.count) / Int64(pins)
            if nowNs >= due { pinned.append(try pinning.pin()) }
        }
        if let counted { count(try counted.activeVersions()) }
    }

    private func count(_ versions: Int) {
        last = versions
        highest = max(highest, versions)
    }

    /// Gives the versions back.
    func end(into findings: inout Findings) throws {
        if let counted { count(try counted.activeVersions()) }
        if let compared {
            amplification = Double(try store.fileBytes()) / Double(max(1, try compared.compactedBytes()))
        }
        pinned = []
        findings.probes.versions = VersionFigures(
            highest: counted.map { _ in highest }, last: counted.map { _ in last }, amplification: amplification)
    }
}
