// The harness itself stands still: a process from outside stops this one and lets it go on, as a hypervisor or a debugger
// would. Nothing in here notices; what was due meanwhile has to read as late.
import Foundation
import StillingWellSync
import TidegaugeMeasure

final class Stall: Companion {
    /// From the start of the window.
    private let atNs: Int64
    private let lengthNs: Int64
    private var thread: TracedThread?

    init(atNs: Int64, lengthNs: Int64) { (self.atNs, self.lengthNs) = (atNs, lengthNs) }

    func begin(_ window: Window) {
        let atNs = window.startNs + atNs
        // Stops the process and lets it go on.
        let script = "kill -STOP \(getpid()); sleep \(Double(lengthNs) / 1e9); kill -CONT \(getpid())"
        thread = TracedThread("stall") {
            Pacing.sleep(untilNs: atNs)
            _ = try? Subprocess.run("/bin/sh", ["-c", script], output: .inherited, errors: .inherited)
        }
    }

    func end(into findings: inout Findings) { thread?.join() }
}
