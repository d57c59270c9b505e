// An observer in a process of its own, which is killed while it watches: nobody else may notice, and the version it stood
// at must not be kept for it.
import Foundation
import Scenario

/// Watches from `init` until it is killed, at the end of the load at the latest. The conducting thread.
final class KilledObserver: Companion {
    private let helper: HelperProcess
    private let atNs: Int64
    private var isDead = false

    /// Returns when it watches.
    init(_ spec: TrialSpec, atNs: Int64, directory: String) throws {
        self.atNs = atNs
        helper = try HelperProcess(HelperOrder(spec: spec, role: .observer, storeDirectory: directory))
        try helper.awaitReady(60_000_000_000)
    }

    func look(_ sinceNs: Int64) { if sinceNs >= atNs { kill() } }

    func end(into findings: inout Findings) { kill() }

    private func kill() {
        guard !isDead else { return }
        isDead = true
        helper.end()
    }
}
