// Stalls this process: a shell stops it and continues it, as a hypervisor or a debugger would. Operations that were due
// meanwhile must be recorded as late.
import Foundation
import StillingWellSync
import TidegaugeMeasure

final class Stall: Companion {
    /// Offset in ns from the start of the window.
    private let atNs: Int64
    private let lengthNs: Int64
    private var thread: TracedThread?

    init(atNs: Int64, lengthNs: Int64) { (self.atNs, self.lengthNs) = (atNs, lengthNs) }

    func begin(_ window: Window) {
        let atNs = window.startNs + atNs
        let script = "kill -STOP \(getpid()); sleep \(Double(lengthNs) / 1e9); kill -CONT \(getpid())"
        thread = TracedThread("stall") {
            Pacing.sleep(untilNs: atNs)
            _ = try? Subprocess.run("/bin/sh", ["-c", script], output: .inherited, errors: .inherited)
        }
    }

    func end(into findings: inout Findings) { thread?.join() }
}
