// Measures the cost of old versions: holds snapshots during the load, counts the versions that the store keeps, and
// compares the file with its content. Used on the conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class VersionMeter: Companion {
    private let store: any DrivenStore
    private var lengthNs: Int64 = 0
    private let wanted: Int
    private let pinning: (any Pinning)?
    /// The store if its versions are counted; otherwise nil.
    private let counted: (any Pinning)?
    /// The store if its file is compared with its content; otherwise nil.
    private let compared: (any Compacting)?
    private var pinned: [any HeldVersion] = []
    private var figures = VersionFigures()

    init(_ setup: TrialSetup) throws {
        let spec = setup.spec
        store = setup.store
        wanted = spec.observers.heldSnapshots
        pinning = wanted > 0 ? try store.conforming(to: (any Pinning).self) : nil
        counted = spec.metrics.contains(.activeVersions) ? store as? any Pinning : nil
        compared = spec.metrics.contains(.spaceAmplification) ? store as? any Compacting : nil
    }

    func begin(_ window: Window) { lengthNs = window.lengthNs }

    /// Takes snapshots evenly over the window, and counts the versions.
    func look(_ sinceNs: Int64) throws {
        if let pinning, pinned.count < wanted, sinceNs >= lengthNs * Int64(pinned.count) / Int64(wanted) {
            pinned.append(try pinning.pin())
        }
        try count()
    }

    private func count() throws {
        guard let versions = try counted?.activeVersions() else { return }
        figures.last = versions
        figures.highest = max(figures.highest ?? 0, versions)
    }

    func end(into findings: inout Findings) throws {
        try count()
        if let compared {
            figures.amplification = Double(try store.fileBytes()) / Double(max(1, try compared.compactedBytes()))
        }
        figures.held = pinned
        pinned = []
        findings.versions = figures
    }
}
